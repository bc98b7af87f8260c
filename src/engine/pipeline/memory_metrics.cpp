#include "engine/pipeline/memory_metrics.h"

namespace loaderscope {
namespace {

double batch_bytes(const LoaderPlan& plan) {
  return static_cast<double>(plan.delivered_bytes(plan.config.loader.batch_size));
}

Metric batch_metric(const LoaderPlan& plan) {
  return make_metric(metric::memory_batch_bytes, "one delivered batch", batch_bytes(plan));
}

Metric slots_metric(const LoaderPlan& plan) {
  const std::int64_t slots = (plan.pin_thread ? 2 : 1) * plan.slots();
  return make_metric(metric::memory_host_slots,
                     "host slots per rank: window + in-flight + 1, twice with a pin thread",
                     static_cast<double>(slots));
}

double host_bytes(const LoaderPlan& plan) {
  return static_cast<double>(plan.host_bytes()) * static_cast<double>(plan.ranks);
}

std::int64_t device_batches(const LoaderPlan& plan) {
  return plan.on_device.makes() ? plan.on_device.slots(plan.in_flight) : plan.in_flight;
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
      make_metric(metric::memory_host_bytes, "host slots of all ranks", host_bytes(plan)),
      make_metric(metric::memory_pinned_bytes, "of them page-locked",
                  locked ? static_cast<double>(*locked) : pinned_by_mode(plan)),
  };
  if (plan.config.loader.executor == Executor::processes) {
    metrics.push_back(make_metric(metric::memory_shm_bytes, "of them shared between processes",
                                  host_bytes(plan)));
  }
  if (plan.has_device) {
    metrics.push_back(
        make_metric(metric::memory_device_bytes,
                    "device buffers of one rank: in-flight batches, and those made ahead",
                    batch_bytes(plan) * static_cast<double>(device_batches(plan))));
  }
  return metrics;
}

std::vector<Metric> unwritten_memory_metrics(const LoaderPlan& plan) {
  return {batch_metric(plan), slots_metric(plan),
          make_metric(metric::memory_host_bytes,
                      "host slots of all ranks: declared samples are not written", 0),
          make_metric(metric::memory_pinned_bytes, "of them page-locked", 0),
          make_metric(metric::memory_needed_bytes, "host slots of all ranks, if samples were real",
                      host_bytes(plan))};
}

}  // namespace loaderscope
