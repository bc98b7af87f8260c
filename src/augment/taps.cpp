#include "augment/taps.h"

namespace loaderscope::augment {
namespace {

void reserve(const TapOptions& options, const TapShape& shape, Taps& taps) {
  const int padded = (options.outputs + kPad - 1) / kPad * kPad;
  taps.pairs = shape.pairs;
  taps.bits = shape.bits;
  taps.padded = static_cast<std::size_t>(padded);
  taps.first.assign(taps.padded, 0);
  taps.weights.assign(taps.padded * static_cast<std::size_t>(shape.pairs), 0);
}

}  // namespace

Span read_span(const AxisMap& axis, const TapOptions& options) {
  const TapAxis plain = tap_axis(axis);
  const TapShape shape = tap_shape(plain, options.antialias);
  return {tap_window(plain, shape, 0).begin, tap_window(plain, shape, options.outputs - 1).end};
}

void make_taps(const AxisMap& axis, const TapOptions& options, Taps& taps) {
  const TapAxis plain = tap_axis(axis);
  const TapShape shape = tap_shape(plain, options.antialias);
  reserve(options, shape, taps);
  taps.read = read_span(axis, options);
  for (int i = 0; i < options.outputs; ++i) {
    const auto at = static_cast<std::size_t>(options.reversed ? options.outputs - 1 - i : i);
    const TapWindow window = make_weights(plain, shape, i, taps.weights.data() + at, taps.padded);
    taps.first[at] = window.begin - taps.read.low;
  }
}

}  // namespace loaderscope::augment
