#include "machine/process_counters.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "base/cpu_set.h"
#include "base/thread_meter.h"
#include "machine/cgroup.h"
#include "machine/machine.h"
#include "machine/proc_file.h"

namespace loaderscope {
namespace {

std::optional<double> machine_steal() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  if (!(file >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal))
    return std::nullopt;
  return steal / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

constexpr Bytes kKibi = 1024;
constexpr std::string_view kOwnMemory = "RssAnon";  // key for a worker's own memory, in its
                                                    // `status`

Bytes private_memory(pid_t pid) {
  return read_value("/proc/" + std::to_string(pid) + "/status", kOwnMemory).value_or(0) * kKibi;
}

ProcessCounters counters_of_machine(const std::filesystem::path& root) {
  ProcessCounters counters;
  counters.at = monotonic_now();
  counters.steal_s = machine_steal();
  counters.throttled_s = cgroup_throttled(root);
  counters.free = free_memory(root);
  std::ifstream stat("/proc/stat");
  counters.busy_s = busy_seconds(stat, allowed_cpus());
  return counters;
}

void add_ended(ProcessCounters& counters, const EndedProcesses& ended) {
  counters.user_s += ended.user_s;
  counters.system_s += ended.system_s;
  counters.minor_faults += ended.minor_faults;
  counters.major_faults += ended.major_faults;
  counters.voluntary_switches += ended.voluntary_switches;
  counters.involuntary_switches += ended.involuntary_switches;
  counters.read_from_storage += ended.read_from_storage;
}

void add_this_process(ProcessCounters& counters) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  EndedProcesses used;
  used.add(usage);
  used.read_from_storage = read_value("/proc/self/io", "read_bytes").value_or(0);
  add_ended(counters, used);
  const auto status = read_values("/proc/self/status", {"Threads", "VmRSS", "RssShmem", "VmLck"});
  counters.threads = status[0].value_or(0);
  counters.resident += status[1].value_or(0) * kKibi;
  counters.shared += status[2].value_or(0) * kKibi;
  counters.locked += status[3].value_or(0) * kKibi;
}

// To the nanosecond, where `stat` counts in ticks of 10 ms: a program that sleeps uses less.
std::optional<double> exact_cpu_seconds(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
    return std::nullopt;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// A process that ends meanwhile counts for nothing until it counts among the ended.
void add_running(ProcessCounters& counters, pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const auto stat = read_process_stat(folder);
  if (!stat) return;
  counters.minor_faults += stat->own.minor_faults;
  counters.major_faults += stat->own.major_faults;
  const double cpu = exact_cpu_seconds(pid).value_or(stat->own.cpu_s());
  const double system = std::min(stat->own.system_s, cpu);
  counters.user_s += cpu - system;
  counters.system_s += system;
  const auto status =
      read_values(folder + "/status",
                  {"voluntary_ctxt_switches", "nonvoluntary_ctxt_switches", kOwnMemory, "VmLck"});
  counters.voluntary_switches += status[0].value_or(0);
  counters.involuntary_switches += status[1].value_or(0);
  counters.resident += status[2].value_or(0) * kKibi;
  counters.locked += status[3].value_or(0) * kKibi;
  counters.read_from_storage += read_value(folder + "/io", "read_bytes").value_or(0);
}

}  // namespace

double timeval_seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

void EndedProcesses::add(const rusage& usage) {
  constexpr Bytes kBlock = 512;
  user_s += timeval_seconds(usage.ru_utime);
  system_s += timeval_seconds(usage.ru_stime);
  minor_faults += usage.ru_minflt;
  major_faults += usage.ru_majflt;
  voluntary_switches += usage.ru_nvcsw;
  involuntary_switches += usage.ru_nivcsw;
  read_from_storage += usage.ru_inblock * kBlock;
}

ProcessCounters read_process_counters(const OtherProcesses& others,
                                      const std::filesystem::path& root) {
  ProcessCounters counters = counters_of_machine(root);
  add_this_process(counters);
  add_ended(counters, others.ended);
  for (const pid_t pid : others.running) add_running(counters, pid);
  return counters;
}

ProcessCounters read_other_counters(const OtherProcesses& processes) {
  ProcessCounters counters = counters_of_machine("/");
  add_ended(counters, processes.ended);
  for (const pid_t pid : processes.running) add_running(counters, pid);
  return counters;
}

ProcessCounters between(const ProcessCounters& a, const ProcessCounters& b, Nanos at) {
  ProcessCounters result = b;
  result.at = std::clamp(at, a.at, b.at);
  const double part =
      b.at > a.at ? static_cast<double>(result.at - a.at) / static_cast<double>(b.at - a.at) : 1;
  for (auto member : {&ProcessCounters::user_s, &ProcessCounters::system_s})
    result.*member = std::lerp(a.*member, b.*member, part);
  for (auto member : {&ProcessCounters::minor_faults, &ProcessCounters::major_faults,
                      &ProcessCounters::voluntary_switches, &ProcessCounters::involuntary_switches,
                      &ProcessCounters::read_from_storage}) {
    const auto grown = static_cast<double>(b.*member - a.*member);
    result.*member = a.*member + std::llround(part * grown);
  }
  for (auto member :
       {&ProcessCounters::steal_s, &ProcessCounters::throttled_s, &ProcessCounters::busy_s}) {
    if (a.*member && b.*member) result.*member = std::lerp(*(a.*member), *(b.*member), part);
  }
  return result;
}

void MemoryWatch::restart() { points_.clear(); }

void MemoryWatch::look(const std::function<OtherProcesses()>& others) {
  const Nanos now = monotonic_now();
  if (now - last_ < kSecond / 2) return;
  last_ = now;
  std::ifstream file("/proc/self/statm");
  double pages = 0, resident = 0;
  if (!(file >> pages >> resident)) return;
  double bytes = resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (others) {
    for (const pid_t pid : others().running) bytes += static_cast<double>(private_memory(pid));
  }
  note(now, bytes);
}

void MemoryWatch::note(Nanos at, double bytes) { points_.push_back({seconds(at), bytes}); }

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
      make_metric(metric::process_cpu_s,
                  "CPU time of all threads and worker processes in the window",
                  end.user_s + end.system_s - begin.user_s - begin.system_s),
      make_metric(metric::process_system_s, "of it in the kernel", end.system_s - begin.system_s),
      make_metric(metric::process_minor_faults, "page faults without I/O",
                  difference(begin.minor_faults, end.minor_faults)),
      make_metric(metric::process_major_faults, "page faults with I/O",
                  difference(begin.major_faults, end.major_faults)),
      make_metric(metric::process_voluntary_switches, "threads that went to sleep",
                  difference(begin.voluntary_switches, end.voluntary_switches)),
      make_metric(metric::process_involuntary_switches,
                  "threads that were sent away from their core",
                  difference(begin.involuntary_switches, end.involuntary_switches)),
      make_metric(metric::process_threads,
                  "threads at the end of the window, of a program those of all its processes",
                  static_cast<double>(end.threads)),
      make_metric(metric::process_storage_read_bytes, "read from storage, not from the page cache",
                  difference(begin.read_from_storage, end.read_from_storage)),
      make_metric(
          metric::memory_resident_bytes,
          "resident memory at the end of the window, with what worker processes do not share",
          static_cast<double>(end.resident)),
      make_metric(metric::memory_shared_bytes, "of it shared", static_cast<double>(end.shared)),
      make_metric(metric::memory_locked_bytes,
                  "locked by mlock (VmLck); what CUDA page-locks is not in it",
                  static_cast<double>(end.locked)),
  };
  if (end.free)
    metrics.push_back(
        make_metric(metric::memory_free_bytes,
                    "of the machine or the container, that may still be taken at the end of the "
                    "window",
                    static_cast<double>(*end.free)));
  if (begin.steal_s && end.steal_s) {
    metrics.push_back(make_metric(metric::host_steal_s,
                                  "CPU time that the hypervisor took away, all cores",
                                  *end.steal_s - *begin.steal_s));
  }
  if (begin.throttled_s && end.throttled_s) {
    metrics.push_back(make_metric(metric::host_throttled_s,
                                  "time that CPU quotas stopped this cgroup or its parents",
                                  *end.throttled_s - *begin.throttled_s));
  }
  if (begin.busy_s && end.busy_s) {
    const double own = end.user_s + end.system_s - begin.user_s - begin.system_s;
    metrics.push_back(
        make_metric(metric::host_other_cpu_s,
                    "CPU time that other processes took on the CPUs that this one may use",
                    std::max(0.0, *end.busy_s - *begin.busy_s - own)));
  }
  if (const auto slope = memory.bytes_per_second()) {
    metrics.push_back(make_metric(
        metric::memory_growth_bytes_per_s,
        "slope of resident memory over the window, the bounded part of measuring included",
        *slope));
  }
  return metrics;
}

}  // namespace loaderscope
