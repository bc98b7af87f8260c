#include "guest/host/process_watch.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "base/thread_meter.h"
#include "machine/proc_file.h"
#include "machine/topology.h"

namespace loaderscope::guest {
namespace {

constexpr std::size_t kLocksAtOnce = 8;  // processes whose locks one call looks at
constexpr std::size_t kMaxPools = 16;    // thread pools of libraries

// Lists a folder. Returns the entries found so far if the folder disappears.
std::vector<std::filesystem::path> list_entries(const std::string& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code gone;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator at(folder, gone); !gone && at != end; at.increment(gone))
    entries.push_back(at->path());
  return entries;
}

}  // namespace

void ProcessWatch::receive_report(const JobProcess& process, const ThreadsMessage& content) {
  locks_.know(process.pid, content.interpreter);
  if (!process.is_worker) return;
  for (const auto& [library, threads] : content.pools) {
    if (pools_.size() >= kMaxPools && !pools_.contains(library)) continue;
    pools_[library] = std::max(pools_[library], threads);
  }
}

void ProcessWatch::look(const std::vector<JobProcess>& processes) {
  look_at_locks(processes);
  const Nanos now = monotonic_now();
  if (!pace_.is_due(now)) return;
  bool worker_runs = false;
  for (const JobProcess& process : processes) {
    if (process.is_worker && look_at_threads(process.pid)) worker_runs = true;
    look_at_files(process.pid);
  }
  worker_looks_ += worker_runs ? 1 : 0;
  look_at_nodes(processes);
  look_at_shared_memory();
  ++looks_;
  pace_.looked(now);
}

void ProcessWatch::look_at_locks(const std::vector<JobProcess>& processes) {
  const Nanos begin = monotonic_now();
  if (!locks_pace_.is_due(begin)) return;
  for (std::size_t i = 0; i < std::min(kLocksAtOnce, processes.size()); ++i) {
    const JobProcess& process = processes[turn_++ % processes.size()];
    locks_.look(process.pid, process.is_worker);
  }
  locks_pace_.looked(begin);
}

void ProcessWatch::WorkersTime::add(const ThreadTime& time) {
  all_s += time.last_s - time.first_s;
  beside_s += time.is_main ? 0 : time.last_s - time.first_s;
}

// Bounds the memory: a job of hours starts and ends thousands of workers.
void ProcessWatch::fold_threads_of_ended() {
  constexpr std::size_t kMaxThreads = 4096;
  if (times_.size() < kMaxThreads) return;
  std::erase_if(times_, [&](const auto& one) {
    const auto& [worker, thread] = one.first;
    const bool is_over = !is_running({worker, thread.pid == worker ? thread.started : 0});
    if (is_over) ended_workers_.add(one.second);
    return is_over;
  });
}

bool ProcessWatch::look_at_threads(pid_t worker) {
  fold_threads_of_ended();
  std::int64_t threads = 0;
  for (const auto& entry : list_entries(proc(worker) + "/task")) {
    const auto thread = static_cast<pid_t>(std::strtol(entry.filename().c_str(), nullptr, 10));
    const auto stat = read_process_stat(entry.string());
    if (!stat) continue;
    const double spent = stat->own.cpu_s();
    ++threads;
    // 0 for threads that started after the first look
    const double before = looks_ == 0 ? spent : 0;
    const auto [time, is_new] = times_.try_emplace({worker, {thread, stat->started}},
                                                   ThreadTime{before, spent, thread == worker});
    time->second.last_s = spent;
  }
  most_threads_ = std::max(most_threads_, threads);
  return threads > 0;
}

void ProcessWatch::look_at_files(pid_t process) {
  const std::int64_t most = read_value(proc(process) + "/limits", "Max open files").value_or(0);
  if (most == 0) return;
  const auto open = std::ssize(list_entries(proc(process) + "/fd"));
  if (most_files_ != 0 && open * most_files_ <= open_files_ * most) return;
  open_files_ = open;
  most_files_ = most;
}

void ProcessWatch::look_at_nodes(const std::vector<JobProcess>& processes) {
  rank_nodes_ = 0;
  for (const JobProcess& process : processes) {
    if (!process.is_worker) rank_nodes_ = std::max(rank_nodes_, nodes_of_process("/", process.pid));
  }
}

void ProcessWatch::look_at_shared_memory() {
  struct statvfs memory {};
  if (::statvfs("/dev/shm", &memory) != 0) return;
  const auto block = static_cast<double>(memory.f_frsize);
  shared_most_ = static_cast<double>(memory.f_blocks) * block;
  shared_peak_ =
      std::max(shared_peak_, static_cast<double>(memory.f_blocks - memory.f_bavail) * block);
}

void ProcessWatch::add_threads(std::vector<Metric>& metrics) const {
  if (times_.empty()) return;
  WorkersTime spent = ended_workers_;
  for (const auto& [thread, time] : times_) spent.add(time);
  metrics.push_back(make_metric(metric::workers_threads, "threads of the worker that has most",
                                static_cast<double>(most_threads_)));
  if (worker_looks_ > 1) {
    metrics.push_back(
        make_metric(metric::workers_cpu_s, "CPU time of all threads of workers", spent.all_s));
    metrics.push_back(make_metric(metric::workers_beside_cpu_s,
                                  "of it by threads that make no batch", spent.beside_s));
  }
  for (const auto& [library, threads] : pools_) {
    metrics.push_back(make_metric("workers." + library + "_threads",
                                  "threads that it is set to use in a worker",
                                  static_cast<double>(threads)));
  }
}

std::vector<Metric> ProcessWatch::metrics() const {
  std::vector<Metric> metrics = locks_.metrics();
  add_threads(metrics);
  if (most_files_ > 0) {
    metrics.push_back(make_metric(metric::files_open,
                                  "open files of the process nearest to its limit",
                                  static_cast<double>(open_files_)));
    metrics.push_back(make_metric(metric::files_limit, "how many it may open (ulimit -n)",
                                  static_cast<double>(most_files_)));
  }
  if (rank_nodes_ > 0) {
    metrics.push_back(make_metric(metric::numa_rank_nodes,
                                  "NUMA nodes that a rank may run on, the most of any",
                                  static_cast<double>(rank_nodes_)));
  }
  if (shared_most_ > 0) {
    // Use by a single batch rises and falls between two looks.
    if (looks_ > 1)
      metrics.push_back(make_metric(metric::memory_shm_peak_bytes,
                                    fmt::format("the most in use of /dev/shm at {} looks", looks_),
                                    shared_peak_));
    metrics.push_back(
        make_metric(metric::memory_shm_limit_bytes, "size of /dev/shm", shared_most_));
  }
  return metrics;
}

std::vector<std::string> ProcessWatch::notes() const {
  const std::string unknown = !pace_.has_looked() ? "" : locks_.unknown();
  return unknown.empty() ? std::vector<std::string>{} : std::vector<std::string>{unknown};
}

}  // namespace loaderscope::guest
