// The places that a warp reads, for the host's loop and for a kernel, and what one pixel becomes.
#pragma once

#include <cstdint>

#include "augment/pixel_math.h"
#include "augment/tap_weights.h"
#include "base/on_device.h"

namespace loaderscope::augment {

inline constexpr double kFarthest = 32000;  // pixels; beyond it 16 + 16 bits do not hold a place
inline constexpr int kSegment = 32;  // outputs whose places are counted up from one exact place
inline constexpr int kBorder = 2;    // black pixels around the source

// The place in the source of the first output of a segment, in pixel centres. `values` are those
// of a RecipeStep, here and below.
struct WarpSegment {
  double x, y;
  bool is_far;  // some output may lie beyond kFarthest: each is placed by itself
};

LOADERSCOPE_ON_DEVICE inline bool reaches_far(double from, double per_pixel, int outputs) {
  const double to = from + per_pixel * outputs;
  return !(from < kFarthest && -from < kFarthest && to < kFarthest && -to < kFarthest);
}

LOADERSCOPE_ON_DEVICE inline WarpSegment warp_segment(const double* values, int size, int x, int y,
                                                      int outputs) {
  const double centre = size / 2.0, dx = x + 0.5 - centre, dy = y + 0.5 - centre;
  WarpSegment segment;
  segment.x = values[0] * dx + values[1] * dy + values[2] + centre - 0.5;
  segment.y = values[3] * dx + values[4] * dy + values[5] + centre - 0.5;
  segment.is_far =
      reaches_far(segment.x, values[0], outputs) || reaches_far(segment.y, values[3], outputs);
  return segment;
}

// Places with 16 binary places.
struct FixedPlace {
  std::int32_t x, y;
};

LOADERSCOPE_ON_DEVICE inline double near_place(double from, double per_pixel, int output) {
  return smaller(larger(from + per_pixel * output, -kFarthest), kFarthest);
}

// An output beyond kFarthest is placed there, which is outside of the image too.
LOADERSCOPE_ON_DEVICE inline FixedPlace far_place(const WarpSegment& segment, const double* values,
                                                  int output) {
  return {to_fixed(near_place(segment.x, values[0], output)),
          to_fixed(near_place(segment.y, values[3], output))};
}

// Counts up as vectors do: a product may pass 32 bits, and the sum never does.
LOADERSCOPE_ON_DEVICE inline std::int32_t counted_up(std::int32_t from, std::int32_t per_pixel,
                                                     int output) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(from) +
                                   static_cast<std::uint32_t>(output) *
                                       static_cast<std::uint32_t>(per_pixel));
}

// The place of output (x, y). The last segment of a row ends with the padding.
LOADERSCOPE_ON_DEVICE inline FixedPlace warp_place(const double* values, int size, int x, int y) {
  const int output = x % kSegment, first = x - output;
  const int outputs = smaller(kSegment, padded(size) - first);
  const WarpSegment segment = warp_segment(values, size, first, y, outputs);
  if (segment.is_far) return far_place(segment, values, output);
  return {counted_up(to_fixed(segment.x), to_fixed(values[0]), output),
          counted_up(to_fixed(segment.y), to_fixed(values[3]), output)};
}

// The weight of the farther neighbour, of 1 << 14 for both, from 16 binary places.
LOADERSCOPE_ON_DEVICE inline std::int32_t place_weight(std::int32_t place) {
  return place >> 2 & 0x3fff;
}

LOADERSCOPE_ON_DEVICE inline std::int32_t blend_corners(std::int32_t top_left,
                                                        std::int32_t top_right,
                                                        std::int32_t bottom_left,
                                                        std::int32_t bottom_right,
                                                        const FixedPlace& weights) {
  const std::int32_t one = 1 << 14;
  const std::int32_t left = one - weights.x, upper = one - weights.y;
  const std::int32_t top = (top_left * left + top_right * weights.x + (1 << 6)) >> 7;
  const std::int32_t bottom = (bottom_left * left + bottom_right * weights.x + (1 << 6)) >> 7;
  return (top * upper + bottom * weights.y + (1 << 20)) >> 21;
}

// Pixel (x, y) of size x size packed pixels, black outside.
LOADERSCOPE_ON_DEVICE inline Rgb pixel_at(const std::uint32_t* pixels, int size, int x, int y) {
  const bool is_inside = x >= 0 && x < size && y >= 0 && y < size;
  return unpack(is_inside ? pixels[y * size + x] : 0);
}

LOADERSCOPE_ON_DEVICE inline std::uint32_t sample_place(const std::uint32_t* pixels, int size,
                                                        const FixedPlace& place) {
  const int x = clamped(place.x >> 16, -kBorder, size), y = clamped(place.y >> 16, -kBorder, size);
  const Rgb a = pixel_at(pixels, size, x, y), b = pixel_at(pixels, size, x + 1, y);
  const Rgb c = pixel_at(pixels, size, x, y + 1), d = pixel_at(pixels, size, x + 1, y + 1);
  const FixedPlace weights = {place_weight(place.x), place_weight(place.y)};
  return pack({blend_corners(a.red, b.red, c.red, d.red, weights),
               blend_corners(a.green, b.green, c.green, d.green, weights),
               blend_corners(a.blue, b.blue, c.blue, d.blue, weights)});
}

}  // namespace loaderscope::augment
