// The CPUs that a process may run on, and the NUMA nodes near them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

#include "base/cpu_set.h"

namespace loaderscope {

CpuSet cpus_of_process(const std::filesystem::path& root, pid_t process);  // empty: not known

// NUMA nodes that have a CPU which the process may run on; 0 where that is not known.
std::int64_t nodes_of_process(const std::filesystem::path& root, pid_t process);

}  // namespace loaderscope
