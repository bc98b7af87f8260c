// Options of `data make`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/image_formats.h"
#include "dataset/encode.h"
#include "loaderscope/rows.h"

namespace loaderscope::dataset {

enum class Format : std::uint8_t { jpeg, png, webp, raw };

// A format that images can be made in. The table is in the order of Format.
struct FormatRow {
  Row row;  // named as the decoder that reads it
  ImageKind kind;
  bool has_quality;
  Encode encode;                       // null where the row is not available
  AddRestarts add_restarts = nullptr;  // null where the format has none

  std::string_view suffix() const;  // ".jpg"
};
std::span<const FormatRow> format_table();
inline const FormatRow& format_row(Format format) {
  return format_table()[static_cast<std::size_t>(format)];
}

const FormatRow* find_encoder(ImageKind kind);  // null if images are not made in that format

// Returns the suffix by the first bytes, or "" if no image format begins with them.
std::string_view suffix_of_image(std::span<const std::byte> stored);

inline constexpr int kMaxSide = 65'500;         // libjpeg's limit
inline constexpr int kMaxPixels = 178'000'000;  // accepted by all decoders

struct SizeDistribution {
  int width = 500, height = 375;  // the median
  double sigma =
      0;  // standard deviation of the logarithm of the common factor of both sides; 0: equal sizes
};

struct MakeOptions {
  std::string path;  // the folder to fill; made when it is missing
  std::int64_t count = 1000;
  SizeDistribution size;
  Format format = Format::jpeg;
  int quality = 94;  // JPEG: about 72 KiB for 500x375; unused if bytes_per_pixel is given
  std::optional<double> bytes_per_pixel;  // mean over the data set; qualities are chosen to meet it
  Subsampling subsampling = Subsampling::s420;
  double progressive_share = 0;  // share of the images
  std::int64_t classes = 10;     // folders
  std::uint64_t seed = 0;
  int threads = 0;  // 0: one per core that this process may use; never changes what is written
};

// Each reads the whole text or throws ValueError that says what was expected.
SizeDistribution parse_size_distribution(std::string_view text);  // 500x375, lognormal:500x375:0.3
double parse_bytes_per_pixel(std::string_view text);              // 0.393, 72KiB/500x375
Subsampling parse_subsampling(std::string_view text);             // 420 422 444 grey
Format parse_format(std::string_view text);                       // one that is available here

std::string size_distribution_to_text(const SizeDistribution& size);

// Throws UsageError with the flag for options that cannot be made.
void check_options(const MakeOptions& options);

}  // namespace loaderscope::dataset
