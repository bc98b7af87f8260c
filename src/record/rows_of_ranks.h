// The steps of a job's ranks, side by side.
#pragma once

#include <functional>
#include <vector>

#include "loaderscope/run_record.h"
#include "record/shift_times.h"

namespace loaderscope {

using RowOfEachRank = std::vector<StepRow>;

// By what clocks of ranks go before that of the first; empty: they are one.
using ClockOffsets = std::vector<ClockLine>;

// That each of them has.
std::int64_t steps_of_all(const std::vector<RankRecord>& ranks);

// Its idle time and its compute.
void move_clock(StepRow& row, Nanos by);

// Visits the steps that all ranks have, in order, on the first rank's clock as it is at their ends,
// and writes back, on their own, those of which `visit` says that it has changed them. A block of
// rows is in memory at a time. Throws RunError when a spill file cannot be read or written.
void for_each_step(std::vector<RankRecord>& ranks, const ClockOffsets& offsets,
                   const std::function<bool(RowOfEachRank&)>& visit);

// Null where the step is not kept in full.
Exemplar* exemplar_of(RankRecord& rank, std::int64_t step);

}  // namespace loaderscope
