// The present settings of the user, as a further case next to the grid.
#include <algorithm>

#include "experiment/settings.h"
#include "experiment/tuner_parts.h"

namespace loaderscope {

std::size_t add_present(Tune& tune, const MachineLimits& limits) {
  Experiment base = plan_experiment(tune.experiment.base, {}, false, limits);
  tune.experiment.cases.push_back(std::move(base.cases.front()));
  tune.candidates.emplace_back();
  return tune.candidates.size() - 1;
}

std::optional<std::size_t> like_present(const Tune& tune, std::size_t present) {
  const Experiment& experiment = tune.experiment;
  const auto is_like_it = [&](const Case& one) {
    return std::all_of(experiment.axes.begin(), experiment.axes.end(), [&](const Axis& axis) {
      return setting_text(one, axis.key) == setting_text(experiment.cases[present], axis.key);
    });
  };
  for (std::size_t i = 0; i < experiment.cases.size(); ++i) {
    if (i != present && is_possible(tune, i) && is_like_it(experiment.cases[i])) return i;
  }
  return std::nullopt;
}

}  // namespace loaderscope
