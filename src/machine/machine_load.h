// The load of the machine, its disks and its cores by other programs.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/cpu_set.h"
#include "loaderscope/run_record.h"
#include "loaderscope/units.h"
#include "machine/proc_file.h"

namespace loaderscope {

struct MachineLoad {
  double busy_s = 0;  // CPU time of the cores since boot, by anybody
  double own_s = 0;   // CPU time of this program and its ended children
  Nanos at = 0;
};

// Reads the load of `cpus`, or of all if `cpus` is empty or the kernel does not distinguish them.
// `root` is "/", or a copy of /proc for tests. Returns nothing if the kernel does not count the
// load.
std::optional<MachineLoad> read_machine_load(const std::filesystem::path& root,
                                             const CpuSet& cpus = {});

// Cores that other programs took between two readings; at least 0.
double other_cores(const MachineLoad& begin, const MachineLoad& end);

// Returns properties of the machine that distort a comparison of worker counts: a quota,
// hyperthreads. One sentence each.
std::vector<std::string> notes_on_cores(const MachineFacts& machine,
                                        const std::filesystem::path& root);

// Load of the disks of this machine.
struct DiskLoad {
  double busy_s = 0;  // with at least one request under way, since boot
  Bytes read = 0;     // bytes read from it
};

// Returns whole disks by name: no partitions, loop devices, memory or network file systems. `root`
// is "/", or a copy of /proc and /sys for tests.
std::map<std::string, DiskLoad> read_disks(const std::filesystem::path& root);

// CPU use of other programs of this machine, by name.
class OtherPrograms {
 public:
  // Reads what every process has used so far, but `own` and those that descend from it. `root` is
  // "/", or a folder with its own proc for tests.
  OtherPrograms(const std::filesystem::path& root, pid_t own);
  // The same of processes that have been read, `own` all of one's own.
  OtherPrograms(const ProcessTable& all, const std::set<pid_t>& own);

  // Threads of the kernel are one program, "the kernel".
  // What programs have used since `before`, as details of host.other_cpu_s: names, and their parts
  // of what all of them used. Nothing of those that did not use a hundredth of it.
  std::vector<Detail> since(const OtherPrograms& before) const;
  // CPU seconds of each program since `before`, by name.
  std::map<std::string, double> cpu_s_since(const OtherPrograms& before) const;

 private:
  void add_but(const std::set<pid_t>& own, const ProcessTable& all);

  struct Process {
    std::string name;
    double cpu_s = 0;
  };
  // Keyed by number and start, because numbers are used again.
  std::map<std::pair<pid_t, std::int64_t>, Process> processes_;
};

}  // namespace loaderscope
