#include "augment/taps.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace loaderscope::augment {
namespace {

constexpr int kMinBits = 14, kMaxBits = 20;

std::int32_t pack_pair(std::int32_t even, std::int32_t odd) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(even) |
                                   static_cast<std::uint32_t>(odd) << 16);
}

void reserve(const TapOptions& options, int pairs, int bits, Taps& taps) {
  const int padded = (options.outputs + kPad - 1) / kPad * kPad;
  taps.pairs = pairs;
  taps.bits = bits;
  taps.padded = static_cast<std::size_t>(padded);
  taps.first.assign(taps.padded, 0);
  taps.weights.assign(taps.padded * static_cast<std::size_t>(pairs), 0);
}

void make_two(const AxisMap& axis, const TapOptions& options, Taps& taps) {
  constexpr double kOneStep = 1 << kMinBits;
  reserve(options, 1, kMinBits, taps);
  const int step = options.reversed ? -1 : 1;
  int place = options.reversed ? options.outputs - 1 : 0;
  const int last = axis.high - 1;
  for (int i = 0; i < options.outputs; ++i, place += step) {
    const double centre =
        std::max(axis.start + (i + 0.5) * axis.scale - 0.5, static_cast<double>(axis.low));
    const int first = std::min(static_cast<int>(centre), last);
    const auto odd =
        first == last ? 0 : static_cast<std::int32_t>((centre - first) * kOneStep + 0.5);
    const auto at = static_cast<std::size_t>(place);
    taps.first[at] = first;
    taps.weights[at] = pack_pair((1 << kMinBits) - odd, odd);
    if (i == 0) taps.read.low = first;
    taps.read.high = std::min(first + 2, axis.high);
  }
}

// Rounds the running sum, not each weight: the sum is exact, and errors of neighbours cancel on
// smooth images.
class RunningSum {
 public:
  RunningSum(double total, int bits) : scale_((1 << bits) / total) {}
  std::int32_t next(double weight) {
    sum_ += weight;
    const auto rounded = static_cast<std::int32_t>(sum_ * scale_ + 0.5);
    return rounded - std::exchange(before_, rounded);
  }

 private:
  double scale_, sum_ = 0;
  std::int32_t before_ = 0;
};

// The largest weight of an output is at most about 2 / min(scale, pixels); it must fit 15 bits.
int bits_for(const AxisMap& axis) {
  const double share = std::min(axis.scale, static_cast<double>(axis.high - axis.low)) / 2;
  return share < 1 ? kMinBits : std::min(kMinBits + std::ilogb(share), kMaxBits);
}

struct Window {
  int begin, end;
  double centre;
};

// At most `most` pixels: where rounding of the borders would make it one more, that one has no
// weight.
Window input_window(const AxisMap& axis, int output, int most) {
  const double centre = axis.start + axis.scale * (output + 0.5);
  // Rounds down: what is cut off is not negative.
  const int begin = std::max(static_cast<int>(std::max(centre - axis.scale + 0.5, 0.0)), axis.low);
  const int end = std::min(static_cast<int>(centre + axis.scale + 0.5), axis.high);
  return {begin, std::min(end, begin + most), centre};
}

void make_triangle(const AxisMap& axis, const TapOptions& options, Taps& taps) {
  const int most = std::min(static_cast<int>(std::ceil(2 * axis.scale)), axis.high - axis.low);
  reserve(options, (most + 1) / 2, bits_for(axis), taps);
  const double slope = 1 / axis.scale;
  for (int i = 0; i < options.outputs; ++i) {
    const Window window = input_window(axis, i, most);
    const auto triangle = [&](int pixel) {
      return std::max(0.0, 1 - std::abs(pixel + 0.5 - window.centre) * slope);
    };
    double total = 0;
    for (int pixel = window.begin; pixel < window.end; ++pixel) total += triangle(pixel);
    RunningSum sum(total, taps.bits);
    auto at = static_cast<std::size_t>(options.reversed ? options.outputs - 1 - i : i);
    taps.first[at] = window.begin;
    if (i == 0) taps.read.low = window.begin;
    taps.read.high = window.end;
    for (int pixel = window.begin; pixel < window.end; pixel += 2, at += taps.padded) {
      const std::int32_t even = sum.next(triangle(pixel));
      taps.weights[at] =
          pack_pair(even, pixel + 1 < window.end ? sum.next(triangle(pixel + 1)) : 0);
    }
  }
}

}  // namespace

void make_taps(const AxisMap& axis, const TapOptions& options, Taps& taps) {
  const bool widened = options.antialias && axis.scale > 1;
  widened ? make_triangle(axis, options, taps) : make_two(axis, options, taps);
  const auto outputs = std::span(taps.first).first(static_cast<std::size_t>(options.outputs));
  for (std::int32_t& first : outputs) first -= taps.read.low;
}

}  // namespace loaderscope::augment
