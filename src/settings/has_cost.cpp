// Check that a run of declared costs ends.
#include "loaderscope/run_config.h"
#include "settings/resolve_steps.h"

namespace loaderscope::settings {
namespace {

// Returns true if a stage is executed repeatedly in this configuration.
bool recurs(const RunConfig& c, Stage stage) {
  switch (stage) {
    case Stage::startup:
    case Stage::startup_parent:
      return false;
    case Stage::pin:
      return c.loader.memory == MemoryMode::pin_thread;
    case Stage::transport:
    case Stage::transport_recv:
      return c.loader.executor != Executor::inline_;
    case Stage::h2d:
    case Stage::compute:
      return device_kind(c.trainer.device.value) != DeviceKind::none;
    default:
      return true;
  }
}

}  // namespace

bool has_cost(const RunConfig& c) {
  if (c.trainer.compute.value.mean > 0 || c.declared.storage_latency > 0 ||
      c.declared.storage_bandwidth > 0)
    return true;
  if (c.trainer.link.given && recurs(c, Stage::h2d)) return true;
  for (const Cost& cost : c.declared.cost.value) {
    if (cost.amount.mean > 0 && recurs(c, cost.stage)) return true;
  }
  for (const Injection& injection : c.declared.inject.value) {
    const bool of_all_ranks = !injection.rank || c.trainer.ranks == 1;
    if (injection.extra > 0 && of_all_ranks && recurs(c, injection.stage)) return true;
  }
  return false;
}

}  // namespace loaderscope::settings
