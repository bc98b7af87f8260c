// The numbers beside the account of a job, from those of its hosts.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <vector>

#include "record/merge_records.h"

namespace loaderscope {
namespace {

// Totals of the run: those of its hosts add up. All other metrics are shares, rates, sizes and what
// one sample, batch or process takes.
constexpr std::string_view kTotals[] = {"process.cpu_s",
                                        "process.storage_read_bytes",
                                        "workers.cpu_s",
                                        "workers.beside_cpu_s",
                                        "host.other_cpu_s",
                                        "requests.count",
                                        "requests.retries",
                                        "requests.throttled",
                                        "gpu.h2d_s",
                                        "gpu.h2d_bytes",
                                        "source.requests",
                                        "source.samples",
                                        "source.bytes_brought",
                                        "source.bytes_of_samples",
                                        "source.bytes_unpacked",
                                        "range_cache.hits",
                                        "range_cache.misses",
                                        "range_cache.bytes_fetched",
                                        "cache.checked_bytes",
                                        "cache.resident_bytes",
                                        "range_cache.bytes_fetched_again",
                                        "video.frames_decoded"};

bool is_total(std::string_view name) {
  return std::find(std::begin(kTotals), std::end(kTotals), name) != std::end(kTotals);
}

// Of a process, beside its totals: those of processes of one machine add up.
constexpr std::string_view kOfProcess[] = {
    "memory.resident_bytes", "memory.shared_bytes",   "memory.locked_bytes",
    "memory.host_bytes",     "memory.pinned_bytes",   "memory.shm_bytes",
    "memory.needed_bytes",   "memory.replayed_bytes", "memory.growth_bytes_per_s"};

bool is_of_process(std::string_view name) {
  return name.starts_with("process.") || is_total(name) ||
         std::find(std::begin(kOfProcess), std::end(kOfProcess), name) != std::end(kOfProcess);
}

// Names of contents, whose mean is nobody's.
bool is_name(std::string_view metric) { return metric.ends_with("fingerprint"); }

// Sums of those that add up, means of the others.
std::vector<Metric> joined_metrics(const std::vector<HostRecord>& hosts,
                                   bool (*adds_up)(std::string_view name)) {
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
      value += adds_up(metric.name) ? metric.value : (metric.value - value) / counts[at];
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    if (counts[i] == 0) all[i].value = std::numeric_limits<double>::quiet_NaN();
  std::erase_if(all, [&](const Metric& metric) {
    return is_name(metric.name) && metric.value != value_of(hosts.front().metrics, metric.name);
  });
  return all;
}

// What each counts as others', less what is of its siblings.
double others_of(const std::vector<HostRecord>& processes) {
  double busy = 0, own = 0, known = 0;
  for (const HostRecord& process : processes) {
    const auto others = value_of(process.metrics, "host.other_cpu_s");
    const double cpu_s = value_of(process.metrics, "process.cpu_s").value_or(0);
    own += cpu_s;
    if (!others) continue;
    busy += *others + cpu_s;
    ++known;
  }
  return std::max(0.0, busy / known - own);
}

}  // namespace

std::vector<Metric> metrics_of_hosts(const std::vector<HostRecord>& hosts) {
  return joined_metrics(hosts, is_total);
}

std::vector<Metric> metrics_of_processes(const std::vector<HostRecord>& processes) {
  std::vector<Metric> all = joined_metrics(processes, is_of_process);
  if (processes.size() == 1) return all;
  for (Metric& metric : all)
    if (metric.name == "host.other_cpu_s") metric.value = others_of(processes);
  return all;
}

}  // namespace loaderscope
