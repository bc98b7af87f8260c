#include "engine/memory_metrics.h"

namespace loaderscope {

std::vector<Metric> memory_metrics(const Plan& plan) {
  const double batch = static_cast<double>(plan.delivered_bytes(plan.config.batch_size));
  const double slots = static_cast<double>(plan.window + plan.in_flight + 1);
  const MemoryMode mode = plan.config.memory;
  const double pinned = mode == MemoryMode::pageable ? 0 : slots;
  const double pageable =
      mode == MemoryMode::pageable || mode == MemoryMode::pin_thread ? slots : 0;
  const double ranks = plan.ranks;
  std::vector<Metric> metrics = {
      {"memory.batch_bytes", "bytes", "one delivered batch", batch},
      {"memory.host_slots", "1",
       "host slots per rank: window + in-flight + 1, twice with a pin thread", pinned + pageable},
      {"memory.host_bytes", "bytes", "host slots of all ranks",
       (pinned + pageable) * batch * ranks},
      {"memory.pinned_bytes", "bytes", "of them page-locked", pinned * batch * ranks},
  };
  if (plan.has_device) {
    metrics.push_back({"memory.device_bytes", "bytes",
                       "device buffers of one rank: in-flight batches",
                       batch * static_cast<double>(plan.in_flight)});
  }
  return metrics;
}

}  // namespace loaderscope
