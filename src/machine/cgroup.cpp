#include "machine/cgroup.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <sstream>

#include "machine/proc_file.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;  // v1 writes 2^63 in whole pages

// The number that the text begins with; "max" is none.
std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop == text.data()) return std::nullopt;
  if (value <= -kNoLimit || value >= kNoLimit) return std::nullopt;
  return value;
}

std::string first_line(const fs::path& file) {
  std::ifstream input(file);
  std::string line;
  std::getline(input, line);
  return line;
}

std::optional<std::int64_t> read_number(const fs::path& file) { return whole(first_line(file)); }

template <class T>
void keep_smaller(std::optional<T>& best, std::optional<T> value) {
  if (value && (!best || *value < *best)) best = value;
}

// "/a/b" of the line of /proc/PROCESS/cgroup whose controllers include `controller` ("" for v2).
std::optional<std::string> cgroup_path(const fs::path& root, std::string_view controller,
                                       std::string_view process) {
  std::ifstream input(root / "proc" / process / "cgroup");
  for (std::string line; std::getline(input, line);) {  // "4:cpu,cpuacct:/a/b" or "0::/a/b"
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    std::istringstream controllers(line.substr(first + 1, second - first - 1));
    std::string name;
    bool found = controller.empty() && second == first + 1;
    while (!found && std::getline(controllers, name, ',')) found = name == controller;
    if (found) return line.substr(second + 1);
  }
  return std::nullopt;
}

// Paths differ from container to container; what the kernel numbers does not.
std::string cgroup_id(const fs::path& folder) {
  struct stat facts {};
  if (::stat(folder.c_str(), &facts) != 0) return "";
  return std::to_string(facts.st_dev) + ":" + std::to_string(facts.st_ino);
}

using Visit = std::function<void(const fs::path& folder)>;

// Visits the folder of the cgroup of that controller under `mount`, and of each of its parents. In
// a container the path of the host may not exist; the mount's root is then the group itself.
void for_each_group(const fs::path& root, std::string_view controller, const char* mount,
                    const Visit& visit, std::string_view process = "self") {
  const auto group = cgroup_path(root, controller, process);
  if (!group) return;
  fs::path relative = fs::path(*group).relative_path();
  for (; !relative.empty(); relative = relative.parent_path()) visit(root / mount / relative);
  visit(root / mount);
}

constexpr const char* kMount = "sys/fs/cgroup";
constexpr const char* kCpuMounts[] = {"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"};  // v1
constexpr const char* kMemoryMount = "sys/fs/cgroup/memory";                              // v1
constexpr const char* kPidsMount = "sys/fs/cgroup/pids";                                  // v1

std::optional<double> quota_v2(const fs::path& folder) {
  std::istringstream line(first_line(folder / "cpu.max"));  // "150000 100000" or "max 100000"
  std::string quota, period;
  line >> quota >> period;
  const auto q = whole(quota), p = whole(period);
  if (!q || !p || *q <= 0 || *p <= 0) return std::nullopt;
  return static_cast<double>(*q) / static_cast<double>(*p);
}

std::optional<double> quota_v1(const fs::path& folder) {
  const auto q = read_number(folder / "cpu.cfs_quota_us");
  const auto p = read_number(folder / "cpu.cfs_period_us");
  if (!q || !p || *q <= 0 || *p <= 0) return std::nullopt;
  return static_cast<double>(*q) / static_cast<double>(*p);
}

std::optional<Bytes> read_limit(const fs::path& file) {
  const auto limit = read_number(file);
  return limit && *limit > 0 ? limit : std::nullopt;
}

// Returns the bytes that a limit leaves. Pages of unused files count as free, because the kernel
// drops them on demand.
std::optional<Bytes> memory_left(const fs::path& folder, const char* limit_file,
                                 const char* used_file, std::string_view reclaimable) {
  const auto limit = read_limit(folder / limit_file);
  const auto used = read_number(folder / used_file);
  if (!limit || !used) return std::nullopt;
  const auto unused_files = read_value((folder / "memory.stat").string(), reclaimable).value_or(0);
  return std::clamp<Bytes>(*limit - *used + std::clamp<Bytes>(unused_files, 0, kNoLimit), 0,
                           *limit);
}

}  // namespace

std::optional<CpuQuota> cgroup_quota(const fs::path& root, std::string_view process) {
  std::optional<CpuQuota> best;
  // Prefers the outermost of equal quotas, because everything in that group shares it.
  const auto look = [&](const fs::path& folder, std::optional<double> cores) {
    if (cores && (!best || *cores <= best->cores)) best = {*cores, cgroup_id(folder)};
  };
  for_each_group(
      root, "", kMount, [&](const fs::path& folder) { look(folder, quota_v2(folder)); }, process);
  for (const char* mount : kCpuMounts) {
    for_each_group(
        root, "cpu", mount, [&](const fs::path& folder) { look(folder, quota_v1(folder)); },
        process);
  }
  return best;
}

std::optional<double> cgroup_cores(const fs::path& root, std::string_view process) {
  const auto quota = cgroup_quota(root, process);
  return quota ? std::optional(quota->cores) : std::nullopt;
}

std::optional<Bytes> cgroup_memory(const fs::path& root) {
  std::optional<Bytes> best;
  for_each_group(root, "", kMount, [&](const fs::path& folder) {
    keep_smaller(best, read_limit(folder / "memory.max"));
  });
  for_each_group(root, "memory", kMemoryMount, [&](const fs::path& folder) {
    keep_smaller(best, read_limit(folder / "memory.limit_in_bytes"));
  });
  return best;
}

std::optional<Bytes> cgroup_memory_left(const fs::path& root) {
  std::optional<Bytes> best;
  for_each_group(root, "", kMount, [&](const fs::path& folder) {
    keep_smaller(best, memory_left(folder, "memory.max", "memory.current", "inactive_file"));
  });
  for_each_group(root, "memory", kMemoryMount, [&](const fs::path& folder) {
    keep_smaller(best, memory_left(folder, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                   "total_inactive_file"));
  });
  return best;
}

std::optional<std::int64_t> cgroup_threads_left(const fs::path& root) {
  std::optional<std::int64_t> best;
  const auto look = [&](const fs::path& folder) {
    const auto most = read_number(folder / "pids.max"), now = read_number(folder / "pids.current");
    if (most) keep_smaller(best, std::optional(std::max<std::int64_t>(*most - now.value_or(0), 0)));
  };
  for_each_group(root, "", kMount, look);
  for_each_group(root, "pids", kPidsMount, look);
  return best;
}

std::optional<double> cgroup_throttled(const fs::path& root, std::string_view process) {
  std::optional<double> all;
  const auto look = [&](const fs::path& folder) {
    const std::string file = (folder / "cpu.stat").string();
    if (const auto us = read_value(file, "throttled_usec"))
      all = all.value_or(0) + static_cast<double>(*us) / 1e6;
    if (const auto ns = read_value(file, "throttled_time"))  // v1
      all = all.value_or(0) + static_cast<double>(*ns) / 1e9;
  };
  for_each_group(root, "", kMount, look, process);
  for (const char* mount : kCpuMounts) {
    if (all) break;  // often one is a link to the other
    for_each_group(root, "cpu", mount, look, process);
  }
  return all;
}

namespace {

constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;

// Root is not held to it.
std::int64_t limit_of_user() {
  rlimit limit{};
  if (::geteuid() == 0 || ::getrlimit(RLIMIT_NPROC, &limit) != 0 || limit.rlim_cur >= kUnlimited)
    return kUnlimited;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

std::int64_t kernel_limit(const std::filesystem::path& file) {
  const std::string text = read_text(file.string());
  const std::int64_t number = NumberReader(text).next().value_or(0);
  return number > 0 ? number : kUnlimited;
}

}  // namespace

std::optional<ThreadLimit> thread_limit(const std::filesystem::path& root) {
  const ThreadLimit limits[] = {
      {limit_of_user(), "ulimit -u"},
      {cgroup_threads_left(root).value_or(kUnlimited), "pids.max of the cgroup"},
      {kernel_limit(root / "proc/sys/kernel/threads-max"), "sysctl kernel.threads-max"},
      {kernel_limit(root / "proc/sys/kernel/pid_max"), "sysctl kernel.pid_max"},
  };
  const auto* least = std::min_element(
      std::begin(limits), std::end(limits),
      [](const ThreadLimit& a, const ThreadLimit& b) { return a.threads < b.threads; });
  if (least->threads >= kUnlimited) return std::nullopt;
  return *least;
}

}  // namespace loaderscope
