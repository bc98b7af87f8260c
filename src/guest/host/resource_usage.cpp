#include "guest/host/resource_usage.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/thread_meter.h"
#include "machine/machine.h"
#include "machine/proc_file.h"

namespace loaderscope::guest {
namespace {

// Usage of all ended children. A process passes its usage to the process that waits for it, and
// finally to this program.
EndedProcesses ended_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  EndedProcesses ended;
  ended.add(usage);
  return ended;
}

void subtract(EndedProcesses& all, const EndedProcesses& part) {
  all.user_s -= part.user_s;
  all.system_s -= part.system_s;
  all.minor_faults -= part.minor_faults;
  all.major_faults -= part.major_faults;
  all.voluntary_switches -= part.voluntary_switches;
  all.involuntary_switches -= part.involuntary_switches;
  all.read_from_storage -= part.read_from_storage;
}

// A launcher that takes no batch is a process of the job too.
std::vector<pid_t> all_of_job(const std::vector<JobProcess>& processes) {
  std::vector<pid_t> all = list_descendants(::getpid());
  for (const JobProcess& process : processes) all.push_back(process.pid);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// Adds the mapped files of /dev/shm that were not unlinked at the time of reading.
void add_segments(std::set<std::string>& segments, pid_t pid) {
  constexpr std::string_view kFolder = "/dev/shm/", kUnlinked = " (deleted)";
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(file, line);) {
    const auto path = line.find(kFolder);
    if (path != line.npos && !line.ends_with(kUnlinked)) segments.insert(line.substr(path));
  }
}

Bytes remaining_bytes(const std::set<std::string>& segments) {
  constexpr Bytes kBlock = 512;
  Bytes left = 0;
  for (const std::string& segment : segments) {
    struct stat state {};
    if (::stat(segment.c_str(), &state) == 0) left += kBlock * state.st_blocks;
  }
  return left;
}

Bytes used_in_shared_folder() { return read_shared_folder().value_or(SharedFolder{}).used; }

}  // namespace

ResourceUsage::ResourceUsage()
    : shared_before_(used_in_shared_folder()), ended_before_(ended_children()) {}

// Reads the usage of the job alone, without this program and without the memory of the job.
ProcessCounters ResourceUsage::read(const std::vector<JobProcess>& processes) const {
  OtherProcesses job;
  job.ended = ended_children();
  subtract(job.ended, ended_before_);
  job.running = all_of_job(processes);
  std::int64_t threads = 0;
  for (const pid_t process : job.running) {
    const auto stat = read_process_stat("/proc/" + std::to_string(process));
    if (!stat) continue;
    threads += stat->threads;
    job.ended.user_s += stat->children.user_s;
    job.ended.system_s += stat->children.system_s;
    job.ended.minor_faults += stat->children.minor_faults;
    job.ended.major_faults += stat->children.major_faults;
  }
  ProcessCounters counters = read_other_counters(job);
  counters.threads = threads;
  counters.resident = counters.shared = 0;
  return counters;
}

void ResourceUsage::window_begins(const std::vector<JobProcess>& processes) {
  readings_.clear();
  begin_ = before_ = read(processes);
  programs_before_.emplace("/", ::getpid());
  note_ended(processes);
}

// PyTorch unlinks a segment as soon as it is mapped: only the folder's fill level shows it.
void ResourceUsage::look(const std::vector<JobProcess>& processes, const JobMemory& memory,
                         bool window_has_ended, Nanos window_end) {
  const Nanos begin = monotonic_now();
  if (processes.empty() || (!pace_.is_due(begin) && !window_has_ended)) return;
  ended_ = window_has_ended;
  if (ended_) note_other_programs();
  ProcessCounters now = read(processes);
  now.resident = memory.resident();
  now.shared = memory.shared();
  readings_.push_back(now);
  forget_before(window_end);
  shared_ = std::max<Bytes>(0, used_in_shared_folder() - shared_before_);
  for (const JobProcess& process : processes) add_segments(segments_, process.pid);
  note_ended(processes);
  pace_.looked(begin);
}

void ResourceUsage::job_ended() {
  if (!begun() || ended_) return;
  note_other_programs();
  ProcessCounters now = read({});
  const ProcessCounters& last = readings_.empty() ? before_ : readings_.back();
  now.threads = last.threads;
  now.resident = last.resident;
  now.shared = last.shared;
  now.locked = last.locked;
  readings_.push_back(now);
}

void ResourceUsage::note_other_programs() {
  other_programs_ = OtherPrograms("/", ::getpid()).since(*programs_before_);
}

void ResourceUsage::forget_before(Nanos window_end) {
  for (; !readings_.empty() && readings_.front().at <= window_end; readings_.pop_front())
    before_ = readings_.front();
}

void ResourceUsage::note_ended(const std::vector<JobProcess>& processes) {
  std::set<pid_t> there;
  for (const JobProcess& process : processes) there.insert(process.pid);
  some_ended_ =
      some_ended_ || !std::includes(there.begin(), there.end(), there_.begin(), there_.end());
  there_ = std::move(there);
}

std::vector<Metric> ResourceUsage::metrics(Nanos window_end) {
  forget_before(window_end);
  const ProcessCounters end =
      readings_.empty() ? before_ : between(before_, readings_.front(), window_end);
  if (end.at <= begin_.at) return {};
  std::vector<Metric> metrics = process_metrics(begin_, end, {});
  if (some_ended_) {
    std::erase_if(metrics, [](const Metric& m) { return m.name.ends_with("_switches"); });
  }
  metrics.push_back(
      make_metric(metric::memory_shm_bytes,
                  "in /dev/shm at the end of the window, less what was there before the job",
                  static_cast<double>(shared_)));
  metrics.push_back(
      make_metric(metric::memory_left_shm_bytes,
                  "in segments of /dev/shm that the job had mapped and did not remove",
                  static_cast<double>(remaining_bytes(segments_))));
  return metrics;
}

namespace {

Bytes resident_bytes(pid_t process) {
  return kKibi * read_value(proc(process) + "/status", "VmRSS").value_or(0);
}

}  // namespace

void JobMemory::look(const std::vector<JobProcess>& processes, bool is_last) {
  const Nanos begin = monotonic_now();
  if (!is_last && !pace_.is_due(begin)) return;
  Bytes resident = 0, shared = 0;
  double trainer_bytes = 0, worker_bytes = 0;
  std::set<pid_t> trainers, workers;
  for (const JobProcess& process : processes) {
    const auto pages = read_values(proc(process.pid) + "/smaps_rollup",
                                   {"Pss", "Pss_Shmem", "Private_Clean", "Private_Dirty"});
    resident += kKibi * pages[0].value_or(0);
    shared += kKibi * pages[1].value_or(0);
    // One that is ending has no memory any more.
    const Bytes held = process.is_worker ? kKibi * (pages[2].value_or(0) + pages[3].value_or(0))
                                         : resident_bytes(process.pid);
    if (held == 0) continue;
    (process.is_worker ? workers : trainers).insert(process.pid);
    (process.is_worker ? worker_bytes : trainer_bytes) += static_cast<double>(held);
  }
  if (resident > 0) {  // 0: all processes have ended
    resident_ = resident;
    shared_ = shared;
  }
  pace_.looked(begin);
  // The others are not all that the job holds if some have just ended.
  if (trainers.size() < trainers_.size() || workers.size() < workers_.size()) return;
  const bool none_stayed = std::none_of(workers_.begin(), workers_.end(),
                                        [&](pid_t one) { return workers.contains(one); });
  restarted_ = restarted_ || (!workers_.empty() && none_stayed);
  trainers_ = std::move(trainers);
  workers_ = std::move(workers);
  private_of_workers_ = worker_bytes;
  growth_.note(begin, trainer_bytes + worker_bytes);
  growth_of_trainers_.note(begin, trainer_bytes);
}

std::vector<Metric> JobMemory::metrics(double batches, double window_s) const {
  std::vector<Metric> metrics;
  if (!workers_.empty()) {
    metrics.push_back(make_metric(metric::memory_worker_private_bytes,
                                  "what a worker does not share, the mean at the end of the window",
                                  private_of_workers_ / static_cast<double>(workers_.size())));
  }
  // A worker that ends gives back all that it has grown by.
  const auto slope = (restarted_ ? growth_of_trainers_ : growth_).bytes_per_second();
  if (!slope) return metrics;
  metrics.push_back(make_metric(metric::memory_growth_bytes_per_s,
                                restarted_
                                    ? "slope of the trainers' resident memory over the window"
                                    : "slope of resident memory over the window",
                                *slope));
  if (batches > 0) {
    metrics.push_back(make_metric(metric::memory_growth_bytes_per_batch, "the same per batch",
                                  *slope * window_s / batches));
  }
  return metrics;
}

}  // namespace loaderscope::guest
