#include "engine/guest/consumption.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "measure/machine.h"
#include "measure/thread_meter.h"

namespace loaderscope::guest {
namespace {

constexpr Bytes kKibi = 1024;
constexpr Nanos kLookEvery = kSecond / 2;

// A part of what /proc/PID/smaps_rollup adds up: pages that several processes map count in parts.
Bytes part_of_memory(const JobProcess& process, const std::string& key) {
  std::ifstream file("/proc/" + std::to_string(process.pid) + "/smaps_rollup");
  for (std::string word; file >> word;) {
    Bytes kibibytes = 0;
    if (word == key && file >> kibibytes) return kibibytes * kKibi;
  }
  return 0;
}

Bytes memory_of(const std::vector<JobProcess>& processes, const std::string& key) {
  Bytes sum = 0;
  for (const JobProcess& process : processes) sum += part_of_memory(process, key);
  return sum;
}

// The CPU time and page faults of children that a process has waited for.
void add_ended_children(EndedProcesses& ended, pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const auto name_end = stat.rfind(')');
  if (name_end == stat.npos) return;
  std::istringstream fields(stat.substr(name_end + 2));
  constexpr std::size_t kMinor = 8, kMajor = 10, kUser = 13, kSystem = 14;  // from state = 0 on
  std::array<std::string, kSystem + 1> field;
  for (std::string& one : field) fields >> one;
  if (!fields) return;
  const auto number = [&](std::size_t at) { return std::strtoll(field[at].c_str(), nullptr, 10); };
  ended.minor_faults += number(kMinor);
  ended.major_faults += number(kMajor);
  const auto user = static_cast<double>(number(kUser));
  const auto system = static_cast<double>(number(kSystem));
  const auto tick = static_cast<double>(::sysconf(_SC_CLK_TCK));
  ended.user_s += user / tick;
  ended.system_s += system / tick;
}

OtherProcesses others_of(const std::vector<JobProcess>& processes) {
  OtherProcesses others;
  for (const JobProcess& process : processes) {
    others.running.push_back(process.pid);
    add_ended_children(others.ended, process.pid);
  }
  return others;
}

// Of the job alone: this program measures, and is no part of it.
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
  counters.resident = memory_of(processes, "Pss:");
  counters.shared = memory_of(processes, "Pss_Shmem:");
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
  const bool soon = monotonic_now() - end_.at < kLookEvery;
  if (processes.empty() || (soon && !window_has_ended)) return;
  ended_ = window_has_ended;
  ProcessCounters now = counters_of(processes);
  if (now.resident == 0) {  // all have ended: they have no memory any more
    now.resident = end_.resident;
    now.shared = end_.shared;
  }
  end_ = now;
  shared_ = std::max<Bytes>(0, used_in_shared_folder() - shared_before_);
  for (const JobProcess& process : processes) add_segments(segments_, process.pid);
  note_ended(processes);
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
