#include "experiment/grid_time.h"

#include <algorithm>

namespace loaderscope {
namespace {

double step_of(const Case& one, const Belief& belief, std::size_t i) {
  if (!belief.knows(i)) return 0;
  return 1e9 * static_cast<double>(one.config.batch_size * one.config.ranks) / belief.rate(i);
}

}  // namespace

Nanos time_of_grid(const Tune& tune, const Belief& belief, const CaseRunner& runner, Nanos length) {
  const auto start = static_cast<double>(runner.start());
  double time = 0;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    if (!is_possible(tune, i)) continue;
    const Case& one = tune.experiment.cases[i];
    const auto steps = static_cast<double>(fewest_steps(one.config) + warmup_steps(one.config));
    time += 2 * std::max(static_cast<double>(length), start + steps * step_of(one, belief, i));
  }
  return static_cast<Nanos>(std::min(time, 9e18));
}

}  // namespace loaderscope
