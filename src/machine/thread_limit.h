// How many threads may run.
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

// The tightest limit of the user, the machine and the cgroup; what others have started is left out
// of it where the kernel tells. `root` is "/", or a copy of /proc and /sys for tests.
std::optional<ThreadLimit> thread_limit(const std::filesystem::path& root);

}  // namespace loaderscope
