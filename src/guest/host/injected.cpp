#include "guest/host/injected.h"
#include "loaderscope/run_config.h"

#include "loaderscope/errors.h"

namespace loaderscope::guest {
namespace {

// Delays in the compute of a simulated device need no hook.
bool needs_no_hook(const Injection& injection, const RunConfig& config) {
  return injection.extra == 0 ||
         (injection.stage == Stage::compute &&
          device_kind(config.trainer.device.value) == DeviceKind::simulated);
}

std::string whose(const Injection& injection) {
  std::string words;
  if (injection.worker) words += " in worker " + std::to_string(*injection.worker);
  if (injection.rank) words += " of rank " + std::to_string(*injection.rank);
  return words;
}

}  // namespace

Injected::Injected(const RunConfig& config) : config_(config) {
  const auto& injections = config.declared.inject.value;
  for (std::size_t i = 0; i < injections.size(); ++i) {
    if (needs_no_hook(injections[i], config)) executed(i);
  }
}

std::string Injected::missing(bool of_every_rank) const {
  const auto& injections = config_.declared.inject.value;
  for (std::size_t i = 0; i < injections.size(); ++i) {
    if (executed_.count(i) > 0 || (of_every_rank && injections[i].rank)) continue;
    return "inject = " + shown_text(injections[i].text) + ": stage " +
           std::string(name_of(injections[i].stage)) + " had no hook in this run" +
           whose(injections[i]) +
           ", so nothing was delayed; choose one of the stages that a run without --inject shows";
  }
  return "";
}

}  // namespace loaderscope::guest
