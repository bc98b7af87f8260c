// Images between decode and augment: pixels and regions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace loaderscope {

// A rectangle in the pixels of the whole image.
struct Region {
  int x = 0, y = 0, width = 0, height = 0;
};

// 8-bit RGB, rows of `stride` bytes. Valid until the next call of the decoder that made it, and no
// longer than the stored bytes that it was made from.
struct Pixels {
  const std::uint8_t* data = nullptr;
  std::size_t stride = 0;
  // Which part of the image this is: what was asked for. With a scale_denominator d > 1 it counts
  // the pixels of the image scaled to ceil(width / d) x ceil(height / d), and covers what was asked
  // for.
  Region region;
  int scale_denominator = 1;  // 1, 2 or 4
};

struct ImageHeader {
  int width = 0, height = 0;
};

}  // namespace loaderscope
