#include <cstring>

#include "dataset/encode.h"

namespace loaderscope::dataset {
namespace {

void put_u32(std::byte* out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace

void encode_raw(const RgbImage& image, const LossySettings&, std::vector<std::byte>& out) {
  out.resize(kRawHeader + image.rgb.size());
  std::memcpy(out.data(), kRawMagic.data(), kRawMagic.size());
  put_u32(out.data() + 8, static_cast<std::uint32_t>(image.width));
  put_u32(out.data() + 12, static_cast<std::uint32_t>(image.height));
  std::memcpy(out.data() + kRawHeader, image.rgb.data(), image.rgb.size());
}

}  // namespace loaderscope::dataset
