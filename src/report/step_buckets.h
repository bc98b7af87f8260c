// The steps of a rank as a few hundred stretches: what a picture of a million of them can show.
#pragma once

#include <utility>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

struct StepStretch {
  std::int64_t steps = 0;
  std::int64_t first = 0, last = 0;  // numbers of steps
  Nanos sum = 0, compute = 0, longest = 0;
  PerCause<Nanos> stall{};

  double middle() const { return static_cast<double>(first + last) / 2; }
  double mean(Nanos of) const { return loaderscope::seconds(of) / static_cast<double>(steps); }
};

struct StepBuckets {
  std::vector<StepStretch> list;
  std::int64_t each = 1;  // so many steps; the last may have fewer
  std::vector<std::pair<std::int64_t, std::int32_t>> epochs;  // (first step, epoch), but the first
  Nanos sum = 0, longest = 0;
  std::int64_t steps = 0;

  double mean() const { return seconds(sum) / static_cast<double>(steps); }
  // Where a picture ends that still shows the others: the longest, or six times the mean.
  double top() const;
  bool is_cut() const { return seconds(longest) > top(); }
};

// Of each measured step, how many batches lay ready when it was asked for, its own among them. In
// order of delivery a batch is ready from its `deliverable` to its `take`.
std::vector<std::int32_t> ready_when_asked(const RankRecord& rank);

// Of the measured steps, at most `most` stretches.
StepBuckets step_stretches(const RankRecord& rank, std::int64_t most);

}  // namespace loaderscope
