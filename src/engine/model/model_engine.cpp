#include "engine/model/model_engine.h"

#include <algorithm>

#include "engine/model/simulation.h"
#include "engine/pipeline/memory_metrics.h"
#include "engine/pipeline/resident_load.h"
#include "record/partial_run.h"

namespace loaderscope {
namespace {

RunRecord make_record(const RunConfig& config, const LoaderPlan& plan,
                      model::Simulation& simulation) {
  RunRecord record;
  record.engine = "model";
  record.simulated = true;
  record.config = config;
  record.interrupted = simulation.interrupted();
  record.input_ended_in_warmup = simulation.input_ended_in_warmup();
  record.ranks = simulation.finish();
  record.metrics = memory_metrics(plan);
  add_resident_load(resident_load(plan), record);
  return record;
}

}  // namespace

RunRecord run_model(const RunConfig& config, const RunContext& context) {
  const LoaderPlan plan(config, context.model.costs, context.knockouts);
  model::Simulation simulation(plan, context);
  try {
    simulation.run();
  } catch (const RunError& failure) {
    if (!simulation.has_steps()) throw;
    throw PartialRunError(failure, make_record(config, plan, simulation));
  }
  return make_record(config, plan, simulation);
}

}  // namespace loaderscope
