// The load of the machine by other programs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/cpu_set.h"
#include "loaderscope/run_record.h"

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

}  // namespace loaderscope
