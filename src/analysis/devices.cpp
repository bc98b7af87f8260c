#include "analysis/devices.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "loaderscope/run_config.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

// "8 x NVIDIA H100, NVIDIA T4" are 9.
std::int64_t count_listed(std::string_view gpus) {
  constexpr std::string_view kTimes = " x ";
  std::int64_t count = 0;
  for (std::size_t begin = 0; begin < gpus.size();) {
    const std::size_t end = std::min(gpus.find(", ", begin), gpus.size());
    const std::string one(gpus.substr(begin, end - begin));
    char* rest = nullptr;
    const std::int64_t times = std::strtoll(one.c_str(), &rest, 10);
    count += times > 0 && std::string_view(rest).starts_with(kTimes) ? times : 1;
    begin = end + 2;
  }
  return count;
}

// Returns the number of GPUs that `ranks` ranks of a machine use. Its programs may be allowed fewer
// GPUs than it has.
std::int64_t count_gpus(const MachineFacts& machine, const std::vector<Metric>& metrics,
                        std::int64_t ranks) {
  if (!machine.gpus) return ranks;
  std::int64_t count = std::min(ranks, count_listed(*machine.gpus));
  if (const auto sampled = value_of(metrics, metric::gpu_sampled); sampled && *sampled >= 1)
    count = std::min<std::int64_t>(count, std::llround(std::min(*sampled, 1e6)));
  return std::max<std::int64_t>(count, 1);
}

}  // namespace

std::int64_t count_gpus(const RunRecord& record) {
  const auto ranks = static_cast<std::int64_t>(record.ranks.size());
  const DeviceKind kind = device_kind(record.config.trainer.device.value);
  const bool has_real = kind == DeviceKind::gpu || kind == DeviceKind::program;
  if (record.simulated || !has_real || is_trace_engine(record.engine)) return ranks;
  if (record.hosts.empty()) return count_gpus(record.machine, record.metrics, ranks);
  std::int64_t count = 0;
  for (const HostRecord& host : record.hosts)
    count += count_gpus(host.machine, host.metrics, host.ranks);
  return count;
}

bool shares_gpus(const RunRecord& record) {
  return count_gpus(record) < static_cast<std::int64_t>(record.ranks.size());
}

}  // namespace loaderscope
