// Conversion of times from one clock to another.
#pragma once

#include <cmath>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Lead of one clock over another: `offset` at its own time `at`, growing by `rate`.
struct ClockLine {
  Nanos offset = 0, at = 0;
  double rate = 0;  // ns gained per ns

  Nanos offset_at(Nanos time) const {
    return offset + std::llround(rate * static_cast<double>(time - at));
  }
};

// Adds `by` to every point in time of the rank. Throws RunError when a spill file fails.
void shift_times(RankRecord& rank, Nanos by);

}  // namespace loaderscope
