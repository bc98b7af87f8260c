// Limits and use of the cgroup of this process, or of another one by its number. `root` is "/", or
// a copy of /proc and /sys for tests; cgroup v1 and v2. Never throws, whatever those files contain.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "loaderscope/units.h"

namespace loaderscope {

struct CpuQuota {
  double cores = 0;
  // The cgroup that has the quota. All of its processes see the same text, in every container. "":
  // not known.
  std::string group;
};
// The smallest of the cgroup and its parents; nothing when unlimited.
std::optional<CpuQuota> cgroup_quota(const std::filesystem::path& root,
                                     std::string_view process = "self");
// Returns the cores of cgroup_quota().
std::optional<double> cgroup_cores(const std::filesystem::path& root,
                                   std::string_view process = "self");

// Memory limit, from the same groups.
std::optional<Bytes> cgroup_memory(const std::filesystem::path& root);

// Memory that the limits leave. Pages of unused files count as free.
std::optional<Bytes> cgroup_memory_left(const std::filesystem::path& root);

// Threads and processes that may still be started, from the same groups.
std::optional<std::int64_t> cgroup_threads_left(const std::filesystem::path& root);

// Seconds for which quotas have held its threads back: its own, and those of its parents. Where
// several did so at the same time it counts for each.
std::optional<double> cgroup_throttled(const std::filesystem::path& root,
                                       std::string_view process = "self");

// The number of threads that may run.
struct ThreadLimit {
  std::int64_t threads = 0;
  std::string set_by;  // "ulimit -u", ...
};

// Returns the tightest limit of the user, the machine and the cgroup, less the threads of other
// programs if the kernel counts them. `root` is "/", or a copy of /proc and /sys for tests.
std::optional<ThreadLimit> thread_limit(const std::filesystem::path& root);

}  // namespace loaderscope
