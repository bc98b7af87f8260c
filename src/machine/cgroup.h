// What the cgroup of this process, or of another one by its number, allows and has used up. `root`
// is "/", or a copy of /proc and /sys for tests; cgroup v1 and v2. Nothing is thrown, whatever
// stands in those files.
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
  // Of the cgroup that has it: the same text for all of its processes, in whatever container they
  // look. "": not known.
  std::string group;
};
// The smallest of the cgroup and its parents; nothing when unlimited.
std::optional<CpuQuota> cgroup_quota(const std::filesystem::path& root,
                                     std::string_view process = "self");
// Its cores.
std::optional<double> cgroup_cores(const std::filesystem::path& root,
                                   std::string_view process = "self");

// Memory limit, found likewise.
std::optional<Bytes> cgroup_memory(const std::filesystem::path& root);

// What the limits leave, counting pages of files that nobody uses now as free.
std::optional<Bytes> cgroup_memory_left(const std::filesystem::path& root);

// Threads and processes that may still be started, found likewise.
std::optional<std::int64_t> cgroup_threads_left(const std::filesystem::path& root);

// Seconds for which quotas have held its threads back: its own, and those of its parents. Where
// several did so at the same time it counts for each.
std::optional<double> cgroup_throttled(const std::filesystem::path& root,
                                       std::string_view process = "self");

}  // namespace loaderscope
