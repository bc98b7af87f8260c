// Encoders of the data-set maker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/image_formats.h"

namespace loaderscope::dataset {

// An image in memory on its way into a data set.
struct RgbImage {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;  // rows without padding

  std::size_t stride() const { return static_cast<std::size_t>(width) * 3; }
  const std::uint8_t* row(int y) const {
    return rgb.data() + static_cast<std::size_t>(y) * stride();
  }
  std::uint8_t* row(int y) { return rgb.data() + static_cast<std::size_t>(y) * stride(); }
};

enum class Subsampling : std::uint8_t { s420, s422, s444, grey };
inline constexpr std::array<std::string_view, 4> kSubsamplingNames = {"420", "422", "444", "grey"};

// Settings of lossy encoders. Subsampling and progressive are for JPEG only.
struct LossySettings {
  int quality = 90;  // the library's scale, 1 to 100
  Subsampling subsampling = Subsampling::s420;
  bool progressive = false;
};

// Encoders replace `out`, and throw RunError if the library fails (no memory, too long a side). The
// function is not defined without its library: see format_table().
using Encode = void (*)(const RgbImage& image, const LossySettings& settings,
                        std::vector<std::byte>& out);
void encode_jpeg(const RgbImage& image, const LossySettings& settings, std::vector<std::byte>& out);
void encode_png(const RgbImage& image, const LossySettings& settings, std::vector<std::byte>& out);
void encode_webp(const RgbImage& image, const LossySettings& settings, std::vector<std::byte>& out);

// Adds restart markers within the rows of a stored image, with the same pixels. A decoder of a crop
// can then skip the pixels around it. Other decoders see no difference, and all metadata is kept.
// An image in scans becomes a baseline one. Returns false if the image is damaged or of another
// format. `out` is unusable then.
using AddRestarts = bool (*)(std::span<const std::byte> stored, std::vector<std::byte>& out);
bool add_restarts_to_jpeg(std::span<const std::byte> stored, std::vector<std::byte>& out);

void encode_raw(const RgbImage& image, const LossySettings& settings, std::vector<std::byte>& out);

}  // namespace loaderscope::dataset
