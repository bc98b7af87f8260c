#include "dataset/pack_options.h"

#include <fmt/format.h>

#include "loaderscope/errors.h"

namespace loaderscope::dataset {
namespace {

void demand_of_pack(bool holds, std::string_view flag, std::string_view expected) {
  if (!holds)
    throw UsageError(fmt::format("{}: expected {}", flag, expected),
                     "see loaderscope data pack --help");
}

void check_writer(const PackOptions& options) {
  const WriterRow& writer = *options.writer;
  demand_of_pack(!writer.holds_tokens, "SHARDS", "a format of images, not tokens");
  check_compression(writer, options.compression);
  demand_of_pack(
      options.row_group == 0 || writer.takes_row_groups, "--row-group",
      "parquet: before the folder, as " + std::string(writer.row.name) + " has no groups");
  demand_of_pack(options.row_group >= 0 && options.row_group <= 1'000'000, "--row-group",
                 "1 to 1000000 samples");
  if (!writer.takes_pixels) return;
  demand_of_pack(
      !options.restart_rows && (!options.encode || options.encode->format == Format::raw),
      "--encode", fmt::format("none, as {} holds pixels", writer.row.name));
}

void check_augmentation(const PackOptions& options) {
  demand_of_pack(!options.augment.empty() || options.size == kUsualSize, "--size",
                 "--augment with it, or --max-side, which shrinks whole images");
  if (options.augment.empty()) return;
  demand_of_pack(options.encode || options.writer->takes_pixels, "--augment",
                 "--encode with it, such as --encode jpeg:90: augmented images are encoded again");
  demand_of_pack(options.max_side == 0, "--augment", "no --max-side: its squares are of --size");
  try {
    make_augmenter(augment_options(options));
  } catch (const ValueError& error) {
    throw add_place<UsageError>("--augment: ", error);
  }
}

}  // namespace

AugmentOptions augment_options(const PackOptions& options) {
  AugmentOptions augment;
  augment.operations = options.augment;
  augment.size = options.size;
  augment.transfer = Transfer::u8;
  augment.layout = Layout::nhwc;
  augment.seed = options.seed;
  return augment;
}

Encoding parse_encoding(std::string_view text) {
  const auto colon = text.find(':');
  Encoding encoding{parse_format(text.substr(0, colon))};
  if (colon == text.npos) return encoding;
  const std::int64_t quality = parse_count(text.substr(colon + 1));
  if (!format_row(encoding.format).has_quality || quality < 1 || quality > 100)
    throw ValueError("expected a quality from 1 to 100 after jpeg or webp", "give jpeg:90");
  encoding.quality = static_cast<int>(quality);
  return encoding;
}

std::string encoding_to_text(const Encoding& encoding) {
  const FormatRow& format = format_row(encoding.format);
  return format.has_quality ? fmt::format("{}:{}", format.row.name, encoding.quality)
                            : std::string(format.row.name);
}

void check_options(const PackOptions& options) {
  demand_of_pack(!options.from.empty(), "SOURCE", "the images to pack");
  demand_of_pack(!options.to.empty(), "SHARDS", "the folder to fill");
  demand_of_pack(options.shard_size >= kMinShard, "--shard-size", "at least 1MiB");
  demand_of_pack(options.max_side >= 0 && options.max_side <= kMaxSide, "--max-side",
                 "1 to 65500 pixels");
  demand_of_pack(options.max_side == 0 || options.encode || options.writer->takes_pixels,
                 "--max-side",
                 "--encode with it, such as --encode jpeg:90: smaller images are encoded again");
  demand_of_pack(options.threads >= 0 && options.threads <= 4096, "--threads",
                 "0 (all cores) to 4096");
  check_writer(options);
  check_augmentation(options);
  if (options.restart_rows) {
    const FormatRow& jpeg = format_row(Format::jpeg);
    if (const auto reason = jpeg.row.reason_not_available())
      throw UsageError("--restart-rows: " + *reason, "leave --restart-rows out");
    demand_of_pack(!options.encode || format_row(options.encode->format).add_restarts != nullptr,
                   "--restart-rows", "--encode jpeg:QUALITY or none: no other format has them");
  }
  if (!options.encode) return;
  if (const auto reason = format_row(options.encode->format).row.reason_not_available())
    throw UsageError("--encode: " + *reason, "give another format, or leave --encode out");
}

}  // namespace loaderscope::dataset
