// The steps of a job's ranks, side by side.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

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

// Adds `delta` to every point in time of the rank. Throws RunError when a spill file fails.
void shift_times(RankRecord& rank, Nanos delta);

using RowOfEachRank = std::vector<StepRow>;

// Offset of each rank's clock from the first rank's clock. Empty if all ranks share one clock.
using ClockOffsets = std::vector<ClockLine>;

// Returns the number of steps that all ranks have.
std::int64_t steps_of_all(const std::vector<RankRecord>& ranks);

// Moves the idle time and the compute of the row.
void move_clock(StepRow& row, Nanos delta);

// Visits the steps that all ranks have, in order. Times are on the first rank's clock, with its
// offset at the end of the step. Rows are written back on their own clocks if `visit` returns true.
// One block of rows is in memory at a time. Throws RunError if a spill file cannot be read or
// written.
void for_each_step(std::vector<RankRecord>& ranks, const ClockOffsets& offsets,
                   const std::function<bool(RowOfEachRank&)>& visit);

// Returns null if the step is not an exemplar.
Exemplar* find_exemplar(RankRecord& rank, std::int64_t step);

}  // namespace loaderscope
