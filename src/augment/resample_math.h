// One pixel of a resized image: blended from its rows, rounded to 16 bits, then from its columns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "augment/pixel_math.h"
#include "augment/tap_weights.h"
#include "base/on_device.h"

namespace loaderscope::augment {

// Binary places of the values between the two sums: 8 + fraction + bits must stay below 31.
LOADERSCOPE_ON_DEVICE inline int row_fraction(int column_bits) {
  return smaller(7, 22 - column_bits);
}

// Two rows of the smallest scale are blended with one weight of 15 bits.
LOADERSCOPE_ON_DEVICE inline bool is_two_rows(int row_pairs, int row_bits, int fraction) {
  return row_pairs == 1 && row_bits == kMinBits && fraction == 7;
}
LOADERSCOPE_ON_DEVICE inline std::int32_t two_row_weight(std::int32_t pair) {
  return smaller(odd_weight(pair) * 2, 32767);
}

// Decoded pixels, interleaved RGB.
struct SourcePixels {
  const std::uint8_t* rgb;
  std::int64_t stride;  // bytes from row to row
  int height;
};

// Taps of one output of an axis; pair k at weights[k * step].
struct OutputTaps {
  const std::int32_t* weights;
  std::size_t step;
  int first;  // pixel of the source
};

// The forms of both axes.
struct ResampleShape {
  int x_pairs, y_pairs, x_bits, y_bits, fraction;
};

LOADERSCOPE_ON_DEVICE inline ResampleShape resample_shape(const TapShape& x, const TapShape& y) {
  return {x.pairs, y.pairs, x.bits, y.bits, row_fraction(x.bits)};
}

// 128 * (from + (to - from) * weight / 32768).
LOADERSCOPE_ON_DEVICE inline std::int32_t blend_two(std::int32_t from, std::int32_t to,
                                                    std::int32_t weight) {
  return from * 128 + (((to - from) * 128 * weight + (1 << 14)) >> 15);
}

// Weights beyond the last row are 0: any row that can be read will do.
LOADERSCOPE_ON_DEVICE inline const std::uint8_t* pixel_of_row(const SourcePixels& source,
                                                              int column, int row) {
  return source.rgb + smaller(row, source.height - 1) * source.stride + std::int64_t{3} * column;
}

// One column of the source, blended from the rows of an output.
LOADERSCOPE_ON_DEVICE inline Rgb blend_column(const SourcePixels& source,
                                              const ResampleShape& shape, const OutputTaps& rows,
                                              int column) {
  if (is_two_rows(shape.y_pairs, shape.y_bits, shape.fraction)) {
    const std::uint8_t* from = pixel_of_row(source, column, rows.first);
    const std::uint8_t* to = pixel_of_row(source, column, rows.first + 1);
    const std::int32_t weight = two_row_weight(rows.weights[0]);
    return {blend_two(from[0], to[0], weight), blend_two(from[1], to[1], weight),
            blend_two(from[2], to[2], weight)};
  }
  const int shift = shape.y_bits - shape.fraction;
  const std::int32_t half = 1 << (shift - 1);
  Rgb sum = {half, half, half};
  for (int k = 0; k < shape.y_pairs; ++k) {
    const std::int32_t pair = rows.weights[static_cast<std::size_t>(k) * rows.step];
    const std::uint8_t* even = pixel_of_row(source, column, rows.first + 2 * k);
    const std::uint8_t* odd = pixel_of_row(source, column, rows.first + 2 * k + 1);
    sum.red += even[0] * even_weight(pair) + odd[0] * odd_weight(pair);
    sum.green += even[1] * even_weight(pair) + odd[1] * odd_weight(pair);
    sum.blue += even[2] * even_weight(pair) + odd[2] * odd_weight(pair);
  }
  return {clamped(sum.red >> shift, -32768, 32767), clamped(sum.green >> shift, -32768, 32767),
          clamped(sum.blue >> shift, -32768, 32767)};
}

LOADERSCOPE_ON_DEVICE inline void add_weighted(Rgb& sum, const Rgb& c, std::int32_t weight) {
  sum.red += c.red * weight;
  sum.green += c.green * weight;
  sum.blue += c.blue * weight;
}

// The packed pixel at one output of both axes. A column without a weight is not read.
LOADERSCOPE_ON_DEVICE inline std::uint32_t resample(const SourcePixels& source,
                                                    const ResampleShape& shape,
                                                    const OutputTaps& columns,
                                                    const OutputTaps& rows) {
  const int shift = shape.x_bits + shape.fraction;
  const std::int32_t half = 1 << (shift - 1);
  Rgb sum = {half, half, half};
  for (int k = 0; k < shape.x_pairs; ++k) {
    const std::int32_t pair = columns.weights[static_cast<std::size_t>(k) * columns.step];
    const int column = columns.first + 2 * k;
    if (even_weight(pair) != 0)
      add_weighted(sum, blend_column(source, shape, rows, column), even_weight(pair));
    if (odd_weight(pair) != 0)
      add_weighted(sum, blend_column(source, shape, rows, column + 1), odd_weight(pair));
  }
  return pack({sum.red >> shift, sum.green >> shift, sum.blue >> shift});
}

}  // namespace loaderscope::augment
