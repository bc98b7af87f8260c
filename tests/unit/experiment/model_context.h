// Experiments in virtual time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiment/axes.h"
#include "loaderscope/analysis.h"
#include "loaderscope/engine.h"
#include "loaderscope/experiment.h"
#include "loaderscope/settings.h"

namespace loaderscope::test {

inline RunConfig scenario(const std::string& lines) {
  RunConfig config;
  parse_scenario("engine = model\n" + lines, "test", config);
  return config;
}

inline ExperimentContext model_context() {
  ExperimentContext context;
  context.run = [](const RunConfig& config) { return run_engine(config, {}); };
  context.now = [] { return Nanos{0}; };
  context.stopped = [] { return false; };
  return context;
}

inline Experiment plan(const RunConfig& base, const std::vector<std::string>& axes,
                       bool one_at_a_time = false) {
  return plan_experiment(base, parse_axes(axes), one_at_a_time, {4});
}

// The true rate of a case: a run of many steps.
inline double true_rate(const RunConfig& config, std::int64_t steps) {
  RunConfig longer = config;
  longer.measure.steps.set(steps);
  longer.measure.duration.given = false;
  longer.measure.warmup.set({steps / 10, 0});
  longer.measure.seed.set(12345);
  return analyse(run_engine(longer, {})).samples_per_s.mean;
}

}  // namespace loaderscope::test
