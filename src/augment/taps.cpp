#include "augment/taps.h"

#include <stdexcept>

namespace loaderscope::augment {
namespace {

void reserve(const TapOptions& options, const TapShape& shape, Taps& taps) {
  taps.pairs = shape.pairs;
  taps.bits = shape.bits;
  taps.padded = static_cast<std::size_t>(padded(options.outputs));
  taps.first.assign(taps.padded, 0);
  taps.weights.assign(taps.padded * static_cast<std::size_t>(shape.pairs), 0);
}

}  // namespace

Span read_span(const AxisMap& axis, const TapOptions& options) {
  const TapAxis plain = tap_axis(axis);
  const TapShape shape = tap_shape(plain, options.antialias);
  return {tap_window(plain, shape, 0).begin, tap_window(plain, shape, options.outputs - 1).end};
}

void check_held(const Span& x, const Span& y, const Region& held) {
  if (x.low < held.x || x.high > held.x + held.width || y.low < held.y ||
      y.high > held.y + held.height) {
    throw std::logic_error("augment was given less of the image than it chose");
  }
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
