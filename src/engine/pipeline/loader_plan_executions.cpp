// Chooses the draw and the count for `every` of each execution of a stage. All engines use the same
// rules.
#include "engine/pipeline/loader_plan.h"

namespace loaderscope {

Execution LoaderPlan::execution(std::int32_t rank, std::int32_t worker, const StepEvents& events,
                                std::int64_t batch_of_epoch) const {
  Execution execution;
  execution.rank = rank;
  execution.worker = worker;
  execution.epoch = events.epoch;
  execution.draw = draw_of(batch_of_epoch, rank);
  execution.count = batch_of_epoch;
  execution.samples = events.samples;
  execution.bytes = events.delivered_bytes;
  return execution;
}

Execution LoaderPlan::execution_of_step(std::int32_t rank, const StepEvents& events) const {
  Execution execution;
  execution.rank = rank;
  execution.epoch = events.epoch;
  execution.draw = draw_of(events.step, rank);
  execution.count = events.step;
  execution.bytes = events.delivered_bytes;
  return execution;
}

Execution LoaderPlan::start_of(std::int32_t rank, std::int32_t worker, std::int64_t epoch) const {
  Execution execution;
  execution.rank = rank;
  execution.worker = worker;
  execution.epoch = epoch;
  execution.draw = draw_of(worker, rank);
  execution.count = epoch;
  return execution;
}

}  // namespace loaderscope
