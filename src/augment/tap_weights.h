// The weights of one output of a resize, for the tables of the host and for a kernel. Doubles are
// computed in a fixed order, and no product may be fused with a sum: both make the same weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/on_device.h"

namespace loaderscope::augment {

// Outputs in a table and pixels in a row are padded to a multiple of this, the most pixels that a
// kernel of the host makes at once.
inline constexpr int kPad = 16;

inline constexpr int kMinBits = 14, kMaxBits = 20;

LOADERSCOPE_ON_DEVICE inline int padded(int outputs) { return (outputs + kPad - 1) / kPad * kPad; }

template <class Value>
LOADERSCOPE_ON_DEVICE inline Value smaller(Value a, Value b) {
  return b < a ? b : a;
}
template <class Value>
LOADERSCOPE_ON_DEVICE inline Value larger(Value a, Value b) {
  return a < b ? b : a;
}

// An AxisMap, for files that must keep to C++17.
struct TapAxis {
  double start = 0, scale = 1;
  int low = 0, high = 0;
};

// The form of the filter, which is the same for all outputs of an axis: two taps, or a triangle as
// wide as the reduction.
struct TapShape {
  bool is_triangle = false;
  int most = 2;  // pixels of an output at most
  int pairs = 1;
  int bits = kMinBits;
};

LOADERSCOPE_ON_DEVICE inline TapShape tap_shape(const TapAxis& axis, bool antialias) {
  TapShape shape;
  if (!antialias || axis.scale <= 1) return shape;
  shape.is_triangle = true;
  const double wide = 2 * axis.scale;
  const int whole = static_cast<int>(wide), pixels = axis.high - axis.low;
  shape.most = smaller(whole < wide ? whole + 1 : whole, pixels);
  shape.pairs = (shape.most + 1) / 2;
  // The largest weight of an output is at most about 2 / min(scale, pixels); it must fit 15 bits.
  double share = smaller(axis.scale, static_cast<double>(pixels)) / 2;
  for (; share >= 2 && shape.bits < kMaxBits; share /= 2) ++shape.bits;
  return shape;
}

// The pixels of one output, and the place on the axis that its weights depend on.
struct TapWindow {
  int begin, end;
  double centre;
};

LOADERSCOPE_ON_DEVICE inline TapWindow two_tap_window(const TapAxis& axis, int output) {
  const double centre =
      larger(axis.start + (output + 0.5) * axis.scale - 0.5, static_cast<double>(axis.low));
  const int begin = smaller(static_cast<int>(centre), axis.high - 1);
  return {begin, smaller(begin + 2, axis.high), centre};
}

// At most `most` pixels: where rounding of the borders would make it one more, that one has no
// weight.
LOADERSCOPE_ON_DEVICE inline TapWindow triangle_window(const TapAxis& axis, int output, int most) {
  const double centre = axis.start + axis.scale * (output + 0.5);
  // Rounds down: what is cut off is not negative.
  const int begin = larger(static_cast<int>(larger(centre - axis.scale + 0.5, 0.0)), axis.low);
  const int end = smaller(static_cast<int>(centre + axis.scale + 0.5), axis.high);
  return {begin, smaller(end, begin + most), centre};
}

LOADERSCOPE_ON_DEVICE inline TapWindow tap_window(const TapAxis& axis, const TapShape& shape,
                                                  int output) {
  return shape.is_triangle ? triangle_window(axis, output, shape.most)
                           : two_tap_window(axis, output);
}

// Two weights in one number: the even tap in the low half, the odd tap in the high half.
LOADERSCOPE_ON_DEVICE inline std::int32_t pack_pair(std::int32_t even, std::int32_t odd) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(even) |
                                   static_cast<std::uint32_t>(odd) << 16);
}
LOADERSCOPE_ON_DEVICE inline std::int32_t even_weight(std::int32_t pair) {
  return static_cast<std::int16_t>(pair & 0xffff);
}
LOADERSCOPE_ON_DEVICE inline std::int32_t odd_weight(std::int32_t pair) { return pair >> 16; }

// Rounds the running sum, not each weight: the sum is exact, and errors of neighbours cancel on
// smooth images.
struct RunningSum {
  double scale, sum = 0;
  std::int32_t before = 0;

  LOADERSCOPE_ON_DEVICE RunningSum(double total, int bits) : scale((1 << bits) / total) {}
  LOADERSCOPE_ON_DEVICE std::int32_t next(double weight) {
    sum += weight;
    const auto rounded = static_cast<std::int32_t>(sum * scale + 0.5);
    const std::int32_t result = rounded - before;
    before = rounded;
    return result;
  }
};

LOADERSCOPE_ON_DEVICE inline double triangle_weight(const TapWindow& window, double slope,
                                                    int pixel) {
  const double away = pixel + 0.5 - window.centre;
  return larger(0.0, 1 - (away < 0 ? -away : away) * slope);
}

// Writes pair k of an output to weights[k * step], and 0 where the window has ended before. Returns
// the window.
LOADERSCOPE_ON_DEVICE inline TapWindow make_weights(const TapAxis& axis, const TapShape& shape,
                                                    int output, std::int32_t* weights,
                                                    std::size_t step) {
  const TapWindow window = tap_window(axis, shape, output);
  if (!shape.is_triangle) {
    constexpr double kOneStep = 1 << kMinBits;
    const int odd = window.begin + 1 < axis.high
                        ? static_cast<int>((window.centre - window.begin) * kOneStep + 0.5)
                        : 0;
    *weights = pack_pair((1 << kMinBits) - odd, odd);
    return window;
  }
  const double slope = 1 / axis.scale;
  double total = 0;
  for (int pixel = window.begin; pixel < window.end; ++pixel)
    total += triangle_weight(window, slope, pixel);
  RunningSum sum(total, shape.bits);
  int pixel = window.begin;
  for (int k = 0; k < shape.pairs; ++k, pixel += 2, weights += step) {
    const std::int32_t even =
        pixel < window.end ? sum.next(triangle_weight(window, slope, pixel)) : 0;
    const std::int32_t odd =
        pixel + 1 < window.end ? sum.next(triangle_weight(window, slope, pixel + 1)) : 0;
    *weights = pack_pair(even, odd);
  }
  return window;
}

}  // namespace loaderscope::augment
