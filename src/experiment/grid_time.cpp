#include "experiment/tuner_parts.h"

#include <algorithm>

namespace loaderscope {
namespace {

// Returns the expected ns of a step; 0 if unknown.
double step_of(const Case& one, const CaseEstimator& belief, std::size_t i) {
  if (!belief.knows(i)) return 0;
  return 1e9 * static_cast<double>(one.config.loader.batch_size * one.config.trainer.ranks) /
         belief.rate(i);
}

// One run, in ns: its start, its warm-up and its window.
double time_of_run(const Case& one, double step, Nanos start, Nanos length) {
  const double warmup = step * static_cast<double>(warmup_steps(one.config));
  const double window = std::max(static_cast<double>(length - start),
                                 step * static_cast<double>(fewest_steps(one.config)));
  return static_cast<double>(start) + warmup + window;
}

}  // namespace

Nanos time_of_grid(const Tune& tune, const CaseEstimator& belief, const CaseRunner& runner,
                   Nanos length) {
  double time = 0;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    if (!is_possible(tune, i)) continue;
    const Case& one = tune.experiment.cases[i];
    const bool is_known = !one.runs.empty() && length == runner.length();
    time += 2 * (is_known ? static_cast<double>(one.runs.back().took)
                          : time_of_run(one, step_of(one, belief, i), runner.start(), length));
  }
  return static_cast<Nanos>(std::min(time, 9e18));
}

}  // namespace loaderscope
