// The random numbers of one sample: a hash, so that nothing depends on who makes the sample and
// when.
#pragma once

#include <cstdint>

#include "loaderscope/cost.h"

namespace loaderscope::augment {

struct Range {
  double low = 0, high = 0;
  bool is(double value) const { return low == value && high == value; }
};

// The draws of one operation of one sample. The place in the list of operations keeps equal
// operations apart.
struct Draws {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0, sample = 0;
  std::uint32_t operation = 0;

  // Returns a value with 0 < result < 1. `number` < 64 distinguishes the random numbers of the
  // operation. Salts below 64 belong to declared costs.
  double uniform(std::uint32_t number) const {
    return uniform_draw(seed, epoch, sample, Stage::augment, 64 * (operation + 1) + number);
  }
  double uniform(std::uint32_t number, Range range) const {
    return range.low + (range.high - range.low) * uniform(number);
  }
  // Returns a value in 0 .. count - 1.
  int below(std::uint32_t number, int count) const {
    return static_cast<int>(uniform(number) * count);
  }
};

}  // namespace loaderscope::augment
