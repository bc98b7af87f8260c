#include "base/raw_image.h"

#include <cstring>

namespace loaderscope {
namespace {

void put_little_endian(std::byte* out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace

void put_raw_image(std::uint32_t width, std::uint32_t height, std::size_t channels,
                   std::span<const std::byte> pixels, std::vector<std::byte>& out) {
  out.resize(kRawHeader + pixels.size() / channels * 3);
  std::memcpy(out.data(), kRawMagic.data(), kRawMagic.size());
  put_little_endian(out.data() + 8, width);
  put_little_endian(out.data() + 12, height);
  std::byte* to = out.data() + kRawHeader;
  if (channels == 3) {
    std::memcpy(to, pixels.data(), pixels.size());
    return;
  }
  for (const std::byte grey : pixels) {
    for (int i = 0; i < 3; ++i) *to++ = grey;
  }
}

}  // namespace loaderscope
