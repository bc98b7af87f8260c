// The weights of one axis of a resize, as fixed-point numbers in pairs of neighbouring pixels.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "augment/tap_weights.h"
#include "loaderscope/augment.h"

namespace loaderscope::augment {

// The two axes of a sample, in the coordinates of the whole image.
struct View {
  AxisMap x, y;
};

// The same axis on an image that was decoded at 1/denominator of its size. It reads nothing but
// the `length` decoded pixels from `first` on: the filter may be wider there than the one for which
// they were chosen.
inline AxisMap reduced(const AxisMap& axis, int denominator, int first, int length) {
  if (denominator == 1) return axis;
  const double d = denominator;
  const int low = axis.low / denominator, high = (axis.high + denominator - 1) / denominator;
  return {axis.start / d, axis.scale / d, low > first ? low : first,
          high < first + length ? high : first + length};
}

inline TapAxis tap_axis(const AxisMap& axis) {
  return {axis.start, axis.scale, axis.low, axis.high};
}

// Pixels that any filter of this product reads for `outputs` outputs: at most max(1, scale) on both
// sides of a centre.
struct Span {
  int low = 0, high = 0;
};
inline Span span_read(const AxisMap& axis, int outputs) {
  const double support = axis.scale > 1 ? axis.scale : 1;
  const double first = axis.start + 0.5 * axis.scale,
               last = axis.start + (outputs - 0.5) * axis.scale;
  const double low = std::floor(first - support), high = std::ceil(last + support);
  return {low > axis.low ? static_cast<int>(low) : axis.low,
          high < axis.high ? static_cast<int>(high) : axis.high};
}

// Output i = sum over k of w(k, i).low * pixel[p + 2 k] + w(k, i).high * pixel[p + 2 k + 1], where
// p = read.low + first[i], and the weights of an output sum to exactly 1 << bits. Weights beyond
// the last pixel that may be read are 0.
struct Taps {
  int pairs = 1;
  int bits = 14;  // 14 .. 20: more, the more pixels share the weight, so that rounding stays small
  std::size_t padded = 0;
  std::vector<std::int32_t> first;    // per output, from read.low on; 0 in the padding
  std::vector<std::int32_t> weights;  // [pair][padded], packed by pack_pair()
  Span read;                          // the pixels that have a weight

  std::int32_t weight(int pair, int output) const {
    return weights[static_cast<std::size_t>(pair) * padded + static_cast<std::size_t>(output)];
  }
};

struct TapOptions {
  int outputs = 0;
  bool antialias = true;
  bool reversed = false;  // the outputs in mirrored order
};

// The pixels that have a weight.
Span read_span(const AxisMap& axis, const TapOptions& options);

// Throws std::logic_error if the pixels of `held` lack a part of what both axes read.
void check_held(const Span& x, const Span& y, const Region& held);

// The weights of PyTorch's bilinear interpolation with half-pixel centres: two taps, or with
// `antialias` a triangle as wide as the reduction. Reuses the memory of `taps`.
void make_taps(const AxisMap& axis, const TapOptions& options, Taps& taps);

}  // namespace loaderscope::augment
