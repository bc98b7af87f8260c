#include "dataset/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "built_with.h"
#include "loaderscope/errors.h"
#include "loaderscope/units.h"

namespace loaderscope::dataset {
namespace {

constexpr std::int64_t kMaxClasses = 1'000'000;
constexpr std::int64_t kMaxImages = 10'000'000'000;

ValueError size_expected() {
  return ValueError("expected a size such as 500x375 or lognormal:500x375:0.3");
}

SizeDistribution parse_sides(std::string_view text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) throw size_expected();
  std::int64_t width = 0, height = 0;
  try {
    width = parse_count(text.substr(0, cross));
    height = parse_count(text.substr(cross + 1));
  } catch (const ValueError&) {
    throw size_expected();
  }
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide ||
      width * height > kMaxPixels) {
    throw ValueError(fmt::format("expected sides of 1 to {} pixels and at most {} pixels in all",
                                 kMaxSide, kMaxPixels));
  }
  return {static_cast<int>(width), static_cast<int>(height), 0};
}

void demand(bool holds, std::string_view flag, std::string_view expected) {
  if (!holds)
    throw UsageError(fmt::format("{}: expected {}", flag, expected),
                     "see loaderscope data make --help");
}

}  // namespace

SizeDistribution parse_size_distribution(std::string_view text) {
  constexpr std::string_view kLognormal = "lognormal:";
  if (!text.starts_with(kLognormal)) return parse_sides(text);
  const std::string_view rest = text.substr(kLognormal.size());
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos) throw size_expected();
  SizeDistribution size = parse_sides(rest.substr(0, colon));
  try {
    size.sigma = parse_real(rest.substr(colon + 1));
  } catch (const ValueError&) {
    throw size_expected();
  }
  if (size.sigma > 2) throw ValueError("expected a spread (sigma of the logarithm) of at most 2");
  return size;
}

double parse_bytes_per_pixel(std::string_view text) {
  double value = 0;
  try {
    if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
      const SizeDistribution size = parse_sides(text.substr(slash + 1));
      value = static_cast<double>(parse_size(text.substr(0, slash))) / size.width / size.height;
    } else {
      value = parse_real(text);
    }
  } catch (const ValueError&) {
    value = 0;
  }
  if (value <= 0)
    throw ValueError("expected stored bytes per pixel such as 0.393 or 72KiB/500x375");
  return value;
}

Subsampling parse_subsampling(std::string_view text) {
  const auto& names = kSubsamplingNames;
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    throw ValueError("expected one of 420 422 444 grey");
  }
  return static_cast<Subsampling>(found - names.begin());
}

Format parse_format(std::string_view text) {
  const FormatRow& found = find_row(text, format_table());
  return static_cast<Format>(&found - format_table().data());
}

std::string size_distribution_to_text(const SizeDistribution& size) {
  const std::string sides = fmt::format("{}x{}", size.width, size.height);
  return size.sigma > 0 ? fmt::format("lognormal:{}:{}", sides, real_to_text(size.sigma)) : sides;
}

void check_options(const MakeOptions& options) {
  demand(!options.path.empty(), "PATH", "the folder to fill");
  demand(options.count >= 1 && options.count <= kMaxImages, "--count",
         "1 to 10,000,000,000 images");
  demand(options.classes >= 1 && options.classes <= std::min(options.count, kMaxClasses),
         "--classes", "at least 1, at most 1,000,000 and no more than there are images");
  demand(options.quality >= 1 && options.quality <= 100, "--quality", "1 to 100");
  demand(options.progressive_share >= 0 && options.progressive_share <= 1, "--progressive-share",
         "a share from 0 to 1");
  demand(options.threads >= 0 && options.threads <= 4096, "--threads", "0 (all cores) to 4096");
  if (const auto reason = format_row(options.format).row.reason_not_available()) {
    throw UsageError("--format: " + *reason, "give another --format");
  }
  const bool jpeg = options.format == Format::jpeg;
  demand(jpeg || !options.bytes_per_pixel, "--bytes-per-pixel",
         "--format jpeg: other formats have the size that the content gives");
  demand(jpeg || options.progressive_share == 0, "--progressive-share", "--format jpeg");
}

namespace {

constexpr std::array<FormatRow, 4> kTable = {{
    {{"jpeg", "Write JPEG, baseline or progressive.", reason_missing<built_with::kJpeg>},
     ImageKind::jpeg,
     true,
     if_built(built_with::kJpeg, encode_jpeg),
     if_built(built_with::kJpeg, add_restarts_to_jpeg)},
    {{"png", "Write lossless PNG.", reason_missing<built_with::kPng>},
     ImageKind::png,
     false,
     if_built(built_with::kPng, encode_png)},
    {{"webp", "Write lossy WebP.", reason_missing<built_with::kWebp>},
     ImageKind::webp,
     true,
     if_built(built_with::kWebp, encode_webp)},
    {{"raw", "A 16-byte header and the pixels: nothing to decode."},
     ImageKind::raw,
     false,
     encode_raw},
}};

}  // namespace

std::string_view FormatRow::suffix() const { return image_format(kind).suffixes.front(); }

std::span<const FormatRow> format_table() { return kTable; }

const FormatRow* find_encoder(ImageKind kind) {
  const auto found = std::find_if(kTable.begin(), kTable.end(),
                                  [&](const FormatRow& row) { return row.kind == kind; });
  return found == kTable.end() ? nullptr : &*found;
}

std::string_view suffix_of_image(std::span<const std::byte> stored) {
  const ImageKind kind = detect_image_kind(stored);
  return kind == ImageKind::unknown ? "" : image_format(kind).suffixes.front();
}

}  // namespace loaderscope::dataset
