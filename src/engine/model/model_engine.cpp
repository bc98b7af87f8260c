#include "engine/model/model_engine.h"

#include <algorithm>

#include "engine/memory_metrics.h"
#include "engine/model/simulation.h"

namespace loaderscope {
RunRecord run_model(const RunConfig& config, const EngineContext& context) {
  const Plan plan(config, context.costs, context.knockouts);
  model::Simulation simulation(plan, context);
  simulation.run();

  RunRecord record;
  record.engine = "model";
  record.simulated = true;
  record.config = config;
  record.interrupted = simulation.interrupted();
  record.input_ended_in_warmup = simulation.input_ended_in_warmup();
  record.ranks = simulation.finish();
  record.metrics = memory_metrics(plan);
  return record;
}

}  // namespace loaderscope
