// Position of the outputs of one axis on the image: the only mapping of coordinates.
#pragma once

#include <cmath>

#include "loaderscope/decode.h"

namespace loaderscope::augment {

// Output i covers [start + i * scale, start + (i + 1) * scale) of an axis where pixel p covers [p,
// p + 1). The filter reads pixels low .. high - 1 only.
struct Axis {
  double start = 0, scale = 1;
  int low = 0, high = 0;
};

// The two axes of a sample, in the coordinates of the whole image.
struct View {
  Axis x, y;
};

// The same axis on an image that was decoded at 1/denominator of its size.
inline Axis reduced(const Axis& axis, int denominator) {
  if (denominator == 1) return axis;
  const double d = denominator;
  return {axis.start / d, axis.scale / d, axis.low / denominator,
          (axis.high + denominator - 1) / denominator};
}

// Pixels that any filter of this product reads for `outputs` outputs: at most max(1, scale) on both
// sides of a centre.
struct Span {
  int low = 0, high = 0;
};
inline Span span_read(const Axis& axis, int outputs) {
  const double support = axis.scale > 1 ? axis.scale : 1;
  const double first = axis.start + 0.5 * axis.scale,
               last = axis.start + (outputs - 0.5) * axis.scale;
  const double low = std::floor(first - support), high = std::ceil(last + support);
  return {low > axis.low ? static_cast<int>(low) : axis.low,
          high < axis.high ? static_cast<int>(high) : axis.high};
}

}  // namespace loaderscope::augment
