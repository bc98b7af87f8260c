// Encoders of the data-set maker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/raw_image.h"
#include "dataset/pixels.h"

namespace loaderscope::dataset {

enum class Subsampling : std::uint8_t { s420, s422, s444, grey };
inline constexpr std::array<std::string_view, 4> kSubsamplingNames = {"420", "422", "444", "grey"};

// What an encoder without losses ignores. Subsampling and progressive are JPEG's only.
struct LossySettings {
  int quality = 90;  // of the library, 1 to 100
  Subsampling subsampling = Subsampling::s420;
  bool progressive = false;
};

// Each replaces `out`, and throws RunError when its library refuses (no memory, too long a side).
// Where the library is missing the function is, too: see format_table().
using Encode = void (*)(const RgbImage& image, const LossySettings& settings,
                        std::vector<std::byte>& out);
void encode_jpeg(const RgbImage& image, const LossySettings& settings, std::vector<std::byte>& out);
void encode_png(const RgbImage& image, const LossySettings& settings, std::vector<std::byte>& out);
void encode_webp(const RgbImage& image, const LossySettings& settings, std::vector<std::byte>& out);

void encode_raw(const RgbImage& image, const LossySettings& settings, std::vector<std::byte>& out);

}  // namespace loaderscope::dataset
