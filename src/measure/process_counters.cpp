#include "measure/process_counters.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "measure/cpu_set.h"
#include "measure/thread_meter.h"

namespace loaderscope {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// The number behind `key` in a file of "key value" or "key: value unit" lines.
std::optional<std::int64_t> value_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    std::istringstream rest(line.substr(key.size()));
    if (rest.peek() == ':') rest.get();
    std::int64_t value = 0;
    if (rest >> value) return value;
  }
  return std::nullopt;
}

std::optional<double> machine_steal() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  if (!(file >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal))
    return std::nullopt;
  return steal / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::optional<double> cgroup_throttled(const std::filesystem::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::")) continue;
    const std::filesystem::path group = root / "sys/fs/cgroup" / line.substr(4);
    const auto throttled = value_in((group / "cpu.stat").string(), "throttled_usec");
    if (throttled) return static_cast<double>(*throttled) / 1e6;
  }
  return std::nullopt;
}

}  // namespace

ProcessCounters read_process_counters(const std::filesystem::path& root) {
  ProcessCounters counters;
  counters.at = monotonic_now();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  counters.user_s = seconds_of(usage.ru_utime);
  counters.system_s = seconds_of(usage.ru_stime);
  counters.minor_faults = usage.ru_minflt;
  counters.major_faults = usage.ru_majflt;
  counters.voluntary_switches = usage.ru_nvcsw;
  counters.involuntary_switches = usage.ru_nivcsw;
  counters.read_from_storage = value_in("/proc/self/io", "read_bytes").value_or(0);
  counters.steal_s = machine_steal();
  counters.throttled_s = cgroup_throttled(root);
  std::ifstream stat("/proc/stat");
  counters.busy_s = busy_seconds(stat, allowed_cpus());
  counters.threads = value_in("/proc/self/status", "Threads").value_or(0);
  constexpr Bytes kKibi = 1024;
  counters.resident = value_in("/proc/self/status", "VmRSS").value_or(0) * kKibi;
  counters.shared = value_in("/proc/self/status", "RssShmem").value_or(0) * kKibi;
  counters.locked = value_in("/proc/self/status", "VmLck").value_or(0) * kKibi;
  return counters;
}

void MemoryWatch::restart() { points_.clear(); }

void MemoryWatch::look() {
  const Nanos now = monotonic_now();
  if (now - last_ < kSecond / 2) return;
  last_ = now;
  std::ifstream file("/proc/self/statm");
  double pages = 0, resident = 0;
  if (!(file >> pages >> resident)) return;
  points_.push_back({seconds(now), resident * static_cast<double>(::sysconf(_SC_PAGESIZE))});
}

std::optional<double> MemoryWatch::bytes_per_second() const {
  if (points_.size() < 4) return std::nullopt;
  double at = 0, bytes = 0;
  for (const Point& point : points_) {
    at += point.at_s / static_cast<double>(points_.size());
    bytes += point.bytes / static_cast<double>(points_.size());
  }
  double covariance = 0, variance = 0;
  for (const Point& point : points_) {
    covariance += (point.at_s - at) * (point.bytes - bytes);
    variance += (point.at_s - at) * (point.at_s - at);
  }
  if (variance <= 0) return std::nullopt;
  return covariance / variance;
}

std::vector<Metric> process_metrics(const ProcessCounters& begin, const ProcessCounters& end,
                                    const MemoryWatch& memory) {
  const auto difference = [](std::int64_t a, std::int64_t b) { return static_cast<double>(b - a); };
  std::vector<Metric> metrics = {
      {"process.cpu_s", "s", "CPU time of all threads in the window",
       end.user_s + end.system_s - begin.user_s - begin.system_s},
      {"process.system_s", "s", "of it in the kernel", end.system_s - begin.system_s},
      {"process.minor_faults", "1", "page faults without I/O",
       difference(begin.minor_faults, end.minor_faults)},
      {"process.major_faults", "1", "page faults with I/O",
       difference(begin.major_faults, end.major_faults)},
      {"process.voluntary_switches", "1", "threads that went to sleep",
       difference(begin.voluntary_switches, end.voluntary_switches)},
      {"process.involuntary_switches", "1", "threads that were sent away from their core",
       difference(begin.involuntary_switches, end.involuntary_switches)},
      {"process.threads", "1", "threads of the process at the end of the window",
       static_cast<double>(end.threads)},
      {"process.storage_read_bytes", "bytes", "read from storage, not from the page cache",
       difference(begin.read_from_storage, end.read_from_storage)},
      {"memory.resident_bytes", "bytes", "resident memory at the end of the window",
       static_cast<double>(end.resident)},
      {"memory.shared_bytes", "bytes", "of it shared", static_cast<double>(end.shared)},
      {"memory.locked_bytes", "bytes", "page-locked memory", static_cast<double>(end.locked)},
  };
  if (begin.steal_s && end.steal_s) {
    metrics.push_back({"host.steal_s", "s", "CPU time that the hypervisor took away, all cores",
                       *end.steal_s - *begin.steal_s});
  }
  if (begin.throttled_s && end.throttled_s) {
    metrics.push_back({"host.throttled_s", "s", "time that the CPU quota stopped this cgroup",
                       *end.throttled_s - *begin.throttled_s});
  }
  if (begin.busy_s && end.busy_s) {
    const double own = end.user_s + end.system_s - begin.user_s - begin.system_s;
    metrics.push_back({"host.other_cpu_s", "s",
                       "CPU time that other processes took on the CPUs that this one may use",
                       std::max(0.0, *end.busy_s - *begin.busy_s - own)});
  }
  if (const auto slope = memory.bytes_per_second()) {
    metrics.push_back(
        {"memory.growth_bytes_per_s", "bytes/s",
         "slope of resident memory over the window, the bounded part of measuring included",
         *slope});
  }
  return metrics;
}

}  // namespace loaderscope
