// Where the memory is that is near to a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

namespace loaderscope {

// NUMA nodes that have a CPU which the process may run on; 0 where that is not known.
std::int64_t nodes_of_process(const std::filesystem::path& root, pid_t process);

}  // namespace loaderscope
