#include "engine/pipeline/core_model.h"

#include <algorithm>

namespace loaderscope {
namespace {

std::vector<double> cores_of(const JobHosts& hosts, double cores) {
  std::vector<double> of_hosts(static_cast<std::size_t>(hosts.count), cores);
  for (std::size_t host = 0; host < std::min(hosts.measured.size(), of_hosts.size()); ++host)
    if (hosts.measured[host].cores > 0) of_hosts[host] = hosts.measured[host].cores;
  return of_hosts;
}

}  // namespace

CoreModel::CoreModel(const RunConfig& config, const FittedCosts* fitted, bool has_device)
    : per_host(cores_of(fitted == nullptr ? JobHosts{} : fitted->hosts, config.declared.cores)) {
  if (fitted == nullptr) return;
  other_threads = fitted->other_threads;
  making_threads = fitted->making_threads;
  if (has_device) compute_threads = fitted->compute_threads;
  decodes_remotely = fitted->hosts.decode_cores > 0;
}

}  // namespace loaderscope
