// The number of threads that may run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace loaderscope {

struct ThreadLimit {
  std::int64_t threads = 0;
  std::string set_by;  // "ulimit -u", ...
};

// Returns the tightest limit of the user, the machine and the cgroup, less the threads of other
// programs if the kernel counts them. `root` is "/", or a copy of /proc and /sys for tests.
std::optional<ThreadLimit> thread_limit(const std::filesystem::path& root);

}  // namespace loaderscope
