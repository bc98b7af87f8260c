#include "engine/pipeline/memory_metrics.h"

namespace loaderscope {
namespace {

double batch_bytes(const LoaderPlan& plan) {
  return static_cast<double>(plan.delivered_bytes(plan.config.loader.batch_size));
}

Metric batch_metric(const LoaderPlan& plan) {
  return {"memory.batch_bytes", "bytes", "one delivered batch", batch_bytes(plan)};
}

Metric slots_metric(const LoaderPlan& plan) {
  const std::int64_t slots = (plan.pin_thread ? 2 : 1) * plan.slots();
  return {"memory.host_slots", "1",
          "host slots per rank: window + in-flight + 1, twice with a pin thread",
          static_cast<double>(slots)};
}

double host_bytes(const LoaderPlan& plan) {
  return static_cast<double>(plan.host_bytes()) * static_cast<double>(plan.ranks);
}

double pinned_by_mode(const LoaderPlan& plan) {
  if (plan.config.loader.memory == MemoryMode::pageable) return 0;
  return static_cast<double>(plan.slots()) * batch_bytes(plan) * static_cast<double>(plan.ranks);
}

}  // namespace

std::vector<Metric> memory_metrics(const LoaderPlan& plan, std::optional<Bytes> locked) {
  std::vector<Metric> metrics = {
      batch_metric(plan),
      slots_metric(plan),
      adds_up_in_machine(
          {"memory.host_bytes", "bytes", "host slots of all ranks", host_bytes(plan)}),
      adds_up_in_machine({"memory.pinned_bytes", "bytes", "of them page-locked",
                          locked ? static_cast<double>(*locked) : pinned_by_mode(plan)}),
  };
  if (plan.config.loader.executor == Executor::processes) {
    metrics.push_back(adds_up_in_machine(
        {"memory.shm_bytes", "bytes", "of them shared between processes", host_bytes(plan)}));
  }
  if (plan.has_device) {
    metrics.push_back({"memory.device_bytes", "bytes",
                       "device buffers of one rank: in-flight batches",
                       batch_bytes(plan) * static_cast<double>(plan.in_flight)});
  }
  return metrics;
}

std::vector<Metric> unwritten_memory_metrics(const LoaderPlan& plan) {
  return {batch_metric(plan), slots_metric(plan),
          adds_up_in_machine({"memory.host_bytes", "bytes",
                              "host slots of all ranks: declared samples are not written", 0}),
          adds_up_in_machine({"memory.pinned_bytes", "bytes", "of them page-locked", 0}),
          adds_up_in_machine({"memory.needed_bytes", "bytes",
                              "host slots of all ranks, if samples were real", host_bytes(plan)})};
}

}  // namespace loaderscope
