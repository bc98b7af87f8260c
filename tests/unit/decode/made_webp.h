// WebP images for tests, and libwebp's own decode of them as the reference.
#pragma once

#include <webp/decode.h>
#include <webp/encode.h>

#include "unit/decode/made_images.h"

namespace loaderscope::made {

inline ByteVector encode_webp(const Image& image, bool lossless) {
  std::uint8_t* buffer = nullptr;
  const int stride = static_cast<int>(image.stride());
  const std::size_t size =
      lossless
          ? WebPEncodeLosslessRGB(image.data.data(), image.width, image.height, stride, &buffer)
          : WebPEncodeRGB(image.data.data(), image.width, image.height, stride, 80.0F, &buffer);
  ByteVector stored = as_bytes(buffer, size);
  WebPFree(buffer);
  return stored;
}

inline Image decode_whole_webp(const ByteVector& stored) {
  Image image;
  std::uint8_t* rgb = WebPDecodeRGB(reinterpret_cast<const std::uint8_t*>(stored.data()),
                                    stored.size(), &image.width, &image.height);
  image.data.assign(rgb, rgb + image.stride() * static_cast<std::size_t>(image.height));
  WebPFree(rgb);
  return image;
}

// The header of an animation; no decoder here gets as far as to its frames.
inline ByteVector animated_webp() {
  constexpr unsigned char kHeader[] = {
      'R', 'I', 'F', 'F', 44,  0,   0,  0, 'W', 'E', 'B', 'P', 'V', 'P', '8', 'X', 10, 0,
      0,   0,   2,   0,   0,   0,   31, 0, 0,   31,  0,   0,   'A', 'N', 'I', 'M', 6,  0,
      0,   0,   255, 255, 255, 255, 0,  0, 'A', 'N', 'M', 'F', 0,   0,   0,   0};
  return as_bytes(kHeader, sizeof kHeader);
}

}  // namespace loaderscope::made
