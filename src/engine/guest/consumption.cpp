#include "engine/guest/consumption.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

#include "measure/machine.h"
#include "measure/proc_file.h"
#include "measure/process_stat.h"
#include "measure/thread_meter.h"

namespace loaderscope::guest {
namespace {

constexpr Bytes kKibi = 1024;

std::string folder_of(const JobProcess& process) { return "/proc/" + std::to_string(process.pid); }

struct Memory {
  Bytes resident = 0, shared = 0;  // pages that several processes map count in parts
};

Memory memory_of(const std::vector<JobProcess>& processes) {
  Memory memory;
  for (const JobProcess& process : processes) {
    const auto parts = values_in(folder_of(process) + "/smaps_rollup", {"Pss", "Pss_Shmem"});
    memory.resident += kKibi * parts[0].value_or(0);
    memory.shared += kKibi * parts[1].value_or(0);
  }
  return memory;
}

// With what children have used that a process has waited for.
OtherProcesses others_of(const std::vector<JobProcess>& processes) {
  OtherProcesses others;
  for (const JobProcess& process : processes) {
    others.running.push_back(process.pid);
    const auto stat = read_process_stat(folder_of(process));
    if (!stat) continue;
    others.ended.user_s += stat->children.user_s;
    others.ended.system_s += stat->children.system_s;
    others.ended.minor_faults += stat->children.minor_faults;
    others.ended.major_faults += stat->children.major_faults;
  }
  return others;
}

// Of the job alone: this program measures, and is no part of it. Without its memory.
ProcessCounters counters_of(const std::vector<JobProcess>& processes) {
  ProcessCounters counters = read_process_counters(others_of(processes));
  const ProcessCounters own = read_process_counters();
  counters.user_s -= own.user_s;
  counters.system_s -= own.system_s;
  counters.minor_faults -= own.minor_faults;
  counters.major_faults -= own.major_faults;
  counters.voluntary_switches -= own.voluntary_switches;
  counters.involuntary_switches -= own.involuntary_switches;
  counters.read_from_storage -= own.read_from_storage;
  counters.locked -= own.locked;
  counters.threads = static_cast<std::int64_t>(processes.size());
  counters.resident = counters.shared = 0;
  return counters;
}

// Those that were not unlinked when they were mapped.
void add_segments(std::set<std::string>& segments, pid_t pid) {
  constexpr std::string_view kFolder = "/dev/shm/", kUnlinked = " (deleted)";
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(file, line);) {
    const auto path = line.find(kFolder);
    if (path != line.npos && !line.ends_with(kUnlinked)) segments.insert(line.substr(path));
  }
}

Bytes bytes_left_of(const std::set<std::string>& segments) {
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

Consumption::Consumption() : shared_before_(used_in_shared_folder()) {}

void Consumption::window_begins(const std::vector<JobProcess>& processes) {
  begin_ = counters_of(processes);
  note_ended(processes);
}

// PyTorch unlinks a segment as soon as it is mapped: only the folder's fill level shows it.
void Consumption::look(const std::vector<JobProcess>& processes, bool window_has_ended) {
  const Nanos begin = monotonic_now();
  if (processes.empty() || (!pace_.is_due(begin) && !window_has_ended)) return;
  ended_ = window_has_ended;
  ProcessCounters now = counters_of(processes);
  const Memory memory = memory_of(processes);
  const bool some_has_memory = memory.resident > 0;  // one that has ended has none any more
  now.resident = some_has_memory ? memory.resident : end_.resident;
  now.shared = some_has_memory ? memory.shared : end_.shared;
  end_ = now;
  shared_ = std::max<Bytes>(0, used_in_shared_folder() - shared_before_);
  for (const JobProcess& process : processes) add_segments(segments_, process.pid);
  note_ended(processes);
  pace_.looked(begin);
}

void Consumption::note_ended(const std::vector<JobProcess>& processes) {
  std::set<pid_t> there;
  for (const JobProcess& process : processes) there.insert(process.pid);
  some_ended_ =
      some_ended_ || !std::includes(there.begin(), there.end(), there_.begin(), there_.end());
  there_ = std::move(there);
}

std::vector<Metric> Consumption::metrics() const {
  if (!begun() || end_.at == 0) return {};
  std::vector<Metric> metrics = process_metrics(begin_, end_, {});
  if (some_ended_) {
    std::erase_if(metrics, [](const Metric& m) { return m.name.ends_with("_switches"); });
  }
  metrics.push_back({"memory.shm_bytes", "bytes",
                     "in /dev/shm at the end of the window, less what was there before the job",
                     static_cast<double>(shared_)});
  metrics.push_back({"memory.left_shm_bytes", "bytes",
                     "in segments of /dev/shm that the job had mapped and did not remove",
                     static_cast<double>(bytes_left_of(segments_))});
  return metrics;
}

}  // namespace loaderscope::guest
