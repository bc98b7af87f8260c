// Metrics of a job, computed from those of its hosts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "record/merge_records.h"

namespace loaderscope {
namespace {

// Sums of those that add up, means of the others.
std::vector<Metric> joined_metrics(const std::vector<HostRecord>& hosts,
                                   bool (*adds_up)(const Metric& metric)) {
  std::vector<Metric> all;
  std::vector<double> counts;
  for (const HostRecord& host : hosts) {
    for (const Metric& metric : host.metrics) {
      const auto found = std::find_if(all.begin(), all.end(),
                                      [&](const Metric& m) { return m.name == metric.name; });
      const auto at = static_cast<std::size_t>(found - all.begin());
      if (found == all.end()) {
        all.push_back(metric);
        all.back().value = 0;
        counts.push_back(0);
      }
      if (!std::isfinite(metric.value)) continue;
      ++counts[at];
      double& value = all[at].value;
      value += adds_up(metric) ? metric.value : (metric.value - value) / counts[at];
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    if (counts[i] == 0) all[i].value = std::numeric_limits<double>::quiet_NaN();
  std::erase_if(all, [&](const Metric& metric) {
    return metric.joined == MetricJoin::same &&
           metric.value != value_of(hosts.front().metrics, metric.name);
  });
  return all;
}

// Returns the CPU time of programs outside the job. Each process counts its siblings as other
// programs.
double other_cpu_s(const std::vector<HostRecord>& processes) {
  double busy = 0, own = 0, known = 0;
  for (const HostRecord& process : processes) {
    const auto others = value_of(process.metrics, metric::host_other_cpu_s);
    const double cpu_s = value_of(process.metrics, metric::process_cpu_s).value_or(0);
    own += cpu_s;
    if (!others) continue;
    busy += *others + cpu_s;
    ++known;
  }
  return std::max(0.0, busy / known - own);
}

}  // namespace

std::vector<Metric> metrics_of_hosts(const std::vector<HostRecord>& hosts) {
  return joined_metrics(hosts,
                        [](const Metric& metric) { return metric.joined == MetricJoin::sum; });
}

std::vector<Metric> metrics_of_processes(const std::vector<HostRecord>& processes) {
  std::vector<Metric> all = joined_metrics(processes, [](const Metric& metric) {
    return metric.joined == MetricJoin::sum || metric.joined == MetricJoin::sum_of_machine;
  });
  if (processes.size() == 1) return all;
  for (Metric& metric : all)
    if (metric.name == metric::host_other_cpu_s) metric.value = other_cpu_s(processes);
  return all;
}

}  // namespace loaderscope
