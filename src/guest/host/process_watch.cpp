#include "guest/host/process_watch.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "base/thread_meter.h"
#include "machine/numa_nodes.h"
#include "machine/proc_file.h"
#include "machine/process_stat.h"

namespace loaderscope::guest {
namespace {

constexpr std::size_t kLocksAtOnce = 8;  // processes whose locks one call looks at
constexpr std::size_t kMostPools = 16;   // of threads, that libraries have

std::string proc(pid_t process) { return "/proc/" + std::to_string(process); }

// Nothing of a process that is ending: it has no memory any more.
std::optional<double> private_bytes(pid_t process) {
  const auto parts = values_in(proc(process) + "/smaps_rollup", {"Private_Clean", "Private_Dirty"});
  if (!parts[0] || !parts[1]) return std::nullopt;
  return static_cast<double>(kKibi * (*parts[0] + *parts[1]));
}

double resident_bytes(pid_t process) {
  return static_cast<double>(kKibi * value_in(proc(process) + "/status", "VmRSS").value_or(0));
}

// Of a folder that may be gone at any time.
std::vector<std::filesystem::path> entries_of(const std::string& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code gone;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator at(folder, gone); !gone && at != end; at.increment(gone))
    entries.push_back(at->path());
  return entries;
}

}  // namespace

void ProcessWatch::hear(const JobProcess& process, const ThreadsMessage& told) {
  locks_.know(process.pid, told.interpreter);
  if (!process.is_worker) return;
  for (const auto& [library, threads] : told.pools) {
    if (pools_.size() >= kMostPools && !pools_.contains(library)) continue;
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
  look_at_memory(processes, now);
  ++looks_;
  pace_.looked(now);
}

void ProcessWatch::look_at_locks(const std::vector<JobProcess>& processes) {
  for (std::size_t i = 0; i < std::min(kLocksAtOnce, processes.size()); ++i) {
    const JobProcess& process = processes[turn_++ % processes.size()];
    locks_.look(process.pid, process.is_worker);
  }
}

void ProcessWatch::WorkersTime::add(const ThreadTime& time) {
  all_s += time.last_s - time.first_s;
  beside_s += time.is_main ? 0 : time.last_s - time.first_s;
}

// Of a job of hours thousands of workers have come and gone.
void ProcessWatch::fold_threads_of_ended() {
  constexpr std::size_t kMostThreads = 4096;
  if (times_.size() < kMostThreads) return;
  std::erase_if(times_, [&](const auto& one) {
    const auto& [worker, thread] = one.first;
    const bool is_over = !is_running({worker, thread.pid == worker ? thread.started : 0});
    if (is_over) of_ended_.add(one.second);
    return is_over;
  });
}

bool ProcessWatch::look_at_threads(pid_t worker) {
  fold_threads_of_ended();
  std::int64_t threads = 0;
  for (const auto& entry : entries_of(proc(worker) + "/task")) {
    const auto thread = static_cast<pid_t>(std::strtol(entry.filename().c_str(), nullptr, 10));
    const auto stat = read_process_stat(entry.string());
    if (!stat) continue;
    const double spent = stat->own.cpu_s();
    ++threads;
    const double before = looks_ == 0 ? spent : 0;  // of others, all of it is since the first look
    const auto [time, is_new] = times_.try_emplace({worker, {thread, stat->started}},
                                                   ThreadTime{before, spent, thread == worker});
    time->second.last_s = spent;
  }
  most_threads_ = std::max(most_threads_, threads);
  return threads > 0;
}

void ProcessWatch::look_at_files(pid_t process) {
  const std::int64_t most = value_in(proc(process) + "/limits", "Max open files").value_or(0);
  if (most == 0) return;
  const auto open = std::ssize(entries_of(proc(process) + "/fd"));
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

void ProcessWatch::look_at_memory(const std::vector<JobProcess>& processes, Nanos now) {
  double trainers = 0, of_workers = 0;
  std::set<pid_t> now_there;
  for (const JobProcess& process : processes) {
    if (!process.is_worker) {
      trainers += resident_bytes(process.pid);
    } else if (const auto own = private_bytes(process.pid)) {
      of_workers += *own;
      now_there.insert(process.pid);
    }
  }
  if (now_there.size() < there_.size()) return;  // some have just ended
  const bool none_stayed = std::none_of(there_.begin(), there_.end(),
                                        [&](pid_t one) { return now_there.contains(one); });
  restarted_ = restarted_ || (!there_.empty() && none_stayed);
  there_ = std::move(now_there);
  private_of_workers_ = of_workers;
  memory_.note(now, trainers + of_workers);
  memory_of_trainers_.note(now, trainers);
}

void ProcessWatch::add_threads(std::vector<Metric>& metrics) const {
  if (times_.empty()) return;
  WorkersTime spent = of_ended_;
  for (const auto& [thread, time] : times_) spent.add(time);
  metrics.push_back({"workers.threads", "1", "threads of the worker that has most",
                     static_cast<double>(most_threads_)});
  if (worker_looks_ > 1) {
    metrics.push_back(
        adds_up({"workers.cpu_s", "s", "CPU time of all threads of workers", spent.all_s}));
    metrics.push_back(adds_up(
        {"workers.beside_cpu_s", "s", "of it by threads that make no batch", spent.beside_s}));
  }
  for (const auto& [library, threads] : pools_) {
    metrics.push_back({"workers." + library + "_threads", "1",
                       "threads that it is set to use in a worker", static_cast<double>(threads)});
  }
}

void ProcessWatch::add_memory(std::vector<Metric>& metrics, double batches, double window_s) const {
  if (!pace_.has_looked()) return;
  if (!there_.empty()) {
    metrics.push_back({"memory.worker_private_bytes", "bytes",
                       "what a worker does not share, the mean at the end of the window",
                       private_of_workers_ / static_cast<double>(there_.size())});
  }
  // What a worker has grown by goes with it.
  const auto slope = (restarted_ ? memory_of_trainers_ : memory_).bytes_per_second();
  if (!slope) return;
  metrics.push_back(
      adds_up_in_machine({"memory.growth_bytes_per_s", "bytes/s",
                          restarted_ ? "slope of the trainers' resident memory over the window"
                                     : "slope of resident memory over the window",
                          *slope}));
  if (batches > 0) {
    metrics.push_back({"memory.growth_bytes_per_batch", "bytes", "likewise per batch",
                       *slope * window_s / batches});
  }
}

std::vector<Metric> ProcessWatch::metrics(double batches, double window_s) const {
  std::vector<Metric> metrics = locks_.metrics();
  add_threads(metrics);
  add_memory(metrics, batches, window_s);
  if (most_files_ > 0) {
    metrics.push_back({"files.open", "1", "open files of the process nearest to its limit",
                       static_cast<double>(open_files_)});
    metrics.push_back(
        {"files.limit", "1", "how many it may open (ulimit -n)", static_cast<double>(most_files_)});
  }
  if (rank_nodes_ > 0) {
    metrics.push_back({"numa.rank_nodes", "1", "NUMA nodes that a rank may run on, the most of any",
                       static_cast<double>(rank_nodes_)});
  }
  if (shared_most_ > 0) {
    // What a batch takes of it comes and goes between two looks.
    if (looks_ > 1)
      metrics.push_back({"memory.shm_peak_bytes", "bytes",
                         fmt::format("the most in use of /dev/shm at {} looks", looks_),
                         shared_peak_});
    metrics.push_back({"memory.shm_limit_bytes", "bytes", "size of /dev/shm", shared_most_});
  }
  return metrics;
}

std::vector<std::string> ProcessWatch::notes() const {
  const std::string unknown = !pace_.has_looked() ? "" : locks_.unknown();
  return unknown.empty() ? std::vector<std::string>{} : std::vector<std::string>{unknown};
}

}  // namespace loaderscope::guest
