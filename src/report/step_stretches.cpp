#include "report/step_stretches.h"

#include <algorithm>

namespace loaderscope {

double StepStretches::top() const { return std::min(seconds(longest), 6 * mean()); }

StepStretches step_stretches(const RankRecord& rank, std::int64_t most) {
  StepStretches steps;
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
