#include "report/step_buckets.h"

#include <algorithm>
#include <numeric>

namespace loaderscope {

double StepBuckets::top() const { return std::min(seconds(longest), 6 * mean()); }

std::vector<std::int32_t> ready_when_asked(const RankRecord& rank) {
  std::vector<Nanos> asks;
  // Changes of the number from one step to the next.
  std::vector<std::int32_t> ready(static_cast<std::size_t>(rank.steps()) + 1);
  rank.rows.for_each([&](const StepRow& row) { asks.push_back(row.ask); }, rank.warmup_steps);
  std::size_t at = 0;
  rank.rows.for_each(
      [&](const StepRow& row) {
        const auto end = asks.begin() + static_cast<std::ptrdiff_t>(++at);
        const auto first = std::lower_bound(asks.begin(), end, row.deliverable);
        if (first == end) return;
        ++ready[static_cast<std::size_t>(first - asks.begin())];
        --ready[at];
      },
      rank.warmup_steps);
  std::partial_sum(ready.begin(), ready.end(), ready.begin());
  ready.pop_back();
  return ready;
}

StepBuckets step_stretches(const RankRecord& rank, std::int64_t most) {
  StepBuckets steps;
  steps.steps = rank.steps();
  steps.each = std::max<std::int64_t>(1, (steps.steps + most - 1) / most);
  std::int64_t at = 0;
  rank.rows.for_each(
      [&](const StepRow& row) {
        if (at++ % steps.each == 0) steps.list.emplace_back();
        StepStretch& stretch = steps.list.back();
        if (stretch.steps++ == 0) stretch.first = row.step;
        stretch.last = row.step;
        const Nanos took = row.compute_end - row.idle_begin;
        stretch.sum += took;
        stretch.compute += row.compute();
        stretch.longest = std::max(stretch.longest, took);
        for (const auto& word : Words<Cause>::table())
          stretch.stall[word.value] += row.stall[word.value];
        steps.sum += took;
        steps.longest = std::max(steps.longest, took);
        if (row.first_of_epoch && row.step > 0) steps.epochs.emplace_back(row.step, row.epoch);
      },
      rank.warmup_steps);
  return steps;
}

}  // namespace loaderscope
