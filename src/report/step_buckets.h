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
  double mean(Nanos part) const { return loaderscope::seconds(part) / static_cast<double>(steps); }
};

struct StepBuckets {
  std::vector<StepStretch> list;
  std::int64_t each = 1;  // number of steps; the last stretch may have fewer
  std::vector<std::pair<std::int64_t, std::int32_t>> epochs;  // (first step, epoch), but the first
  Nanos sum = 0, longest = 0;
  std::int64_t steps = 0;

  double mean() const { return seconds(sum) / static_cast<double>(steps); }
  // Returns the top of a picture that still shows the others: the longest, or six times the mean.
  double top() const;
  bool is_cut() const { return seconds(longest) > top(); }
};

// Returns the number of ready batches when each measured step asked for its batch, including its
// own. With delivery in order, a batch is ready from `deliverable` to `take`.
std::vector<std::int32_t> ready_when_asked(const RankRecord& rank);

// Returns at most `most` stretches of the measured steps.
StepBuckets step_stretches(const RankRecord& rank, std::int64_t most);

}  // namespace loaderscope
