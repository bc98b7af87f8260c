// The weights of one axis of a resize, as fixed-point numbers in pairs of neighbouring pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "augment/axis.h"

namespace loaderscope::augment {

// Outputs in a table are padded to a multiple of this, the most pixels that a kernel makes at once.
inline constexpr int kPad = 16;

// Output i = sum over k of w(k, i).low * pixel[p + 2 k] + w(k, i).high * pixel[p + 2 k + 1], where
// p = read.low + first[i], and the weights of an output sum to exactly 1 << bits. Weights beyond
// the last pixel that may be read are 0.
struct Taps {
  int pairs = 1;
  int bits = 14;  // 14 .. 20: more, the more pixels share the weight, so that rounding stays small
  std::size_t padded = 0;
  std::vector<std::int32_t> first;  // per output, from read.low on; 0 in the padding
  std::vector<std::int32_t>
      weights;  // [pair][padded]: even tap in the low half, odd tap in the high half
  Span read;    // the pixels that have a weight

  std::int32_t weight(int pair, int output) const {
    return weights[static_cast<std::size_t>(pair) * padded + static_cast<std::size_t>(output)];
  }
};

struct TapOptions {
  int outputs = 0;
  bool antialias = true;
  bool reversed = false;  // the outputs in mirrored order
};

// The weights of PyTorch's bilinear interpolation with half-pixel centres: two taps, or with
// `antialias` a triangle as wide as the reduction. Reuses the memory of `taps`.
void make_taps(const Axis& axis, const TapOptions& options, Taps& taps);

}  // namespace loaderscope::augment
