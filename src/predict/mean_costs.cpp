#include "predict/mean_costs.h"

#include <cmath>

namespace loaderscope::model {
namespace {

void take_mean(Distribution& distribution) {
  distribution.shape = Distribution::Shape::constant;
  distribution.spread = 0;
}

// Keeps the total delay, and spreads it over all executions.
void spread_evenly(Injection& injection) {
  injection.extra = std::llround(static_cast<double>(injection.extra) * injection.probability /
                                 static_cast<double>(injection.every));
  injection.probability = 1;
  injection.every = 1;
}

}  // namespace

RunConfig with_mean_costs(RunConfig config) {
  take_mean(config.data.stored_bytes.value);
  take_mean(config.trainer.compute.value);
  for (Cost& cost : config.declared.cost.value) take_mean(cost.amount);
  for (Injection& injection : config.declared.inject.value) spread_evenly(injection);
  return config;
}

}  // namespace loaderscope::model
