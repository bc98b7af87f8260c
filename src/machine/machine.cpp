#include "machine/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// The value behind "KEY<separator>" in a file of such lines; "" when there is none.
std::string value_of_key(const fs::path& file, std::string_view key, char separator) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto end = line.find(separator);
    if (end == line.npos || !line.starts_with(key)) continue;
    std::string value = line.substr(end + 1);
    const auto begin = value.find_first_not_of(" \t\"");
    if (begin == value.npos) return "";
    return value.substr(begin, value.find_last_not_of(" \t\"") - begin + 1);
  }
  return "";
}

constexpr std::int64_t kBeyondAll = std::int64_t{1} << 60;  // sums of some below it fit

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop == text.data()) return std::nullopt;
  if (value <= -kBeyondAll || value >= kBeyondAll) return std::nullopt;
  return value;
}

template <class T>
void keep_smaller(std::optional<T>& best, std::optional<T> value) {
  if (value && (!best || *value < *best)) best = value;
}

// "/a/b" of the line of /proc/self/cgroup whose controllers include `controller` ("" for v2).
std::optional<std::string> cgroup_path(const fs::path& root, std::string_view controller) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // "4:cpu,cpuacct:/a/b" or "0::/a/b"
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

// Calls `visit` with the folder of the cgroup and of each of its parents. In a container the path
// of the host may not exist; the mount's root is then the group itself.
void for_each_group(const fs::path& mount, const std::string& group,
                    const std::function<void(const fs::path&)>& visit) {
  fs::path relative = fs::path(group).relative_path();
  for (; !relative.empty(); relative = relative.parent_path()) visit(mount / relative);
  visit(mount);
}

std::optional<double> quota_v2(const fs::path& folder) {
  std::istringstream line(first_line(folder / "cpu.max"));  // "150000 100000" or "max 100000"
  std::string quota, period;
  line >> quota >> period;
  const auto q = whole(quota), p = whole(period);
  if (!q || !p || *q <= 0 || *p <= 0) return std::nullopt;
  return static_cast<double>(*q) / static_cast<double>(*p);
}

std::optional<double> quota_v1(const fs::path& folder) {
  const auto q = whole(first_line(folder / "cpu.cfs_quota_us"));
  const auto p = whole(first_line(folder / "cpu.cfs_period_us"));
  if (!q || !p || *q <= 0 || *p <= 0) return std::nullopt;
  return static_cast<double>(*q) / static_cast<double>(*p);
}

std::optional<Bytes> limit_in(const fs::path& file) {
  // "max" is no limit, nor is v1's 2^63 in whole pages, which is beyond all.
  const auto limit = whole(first_line(file));
  if (!limit || *limit <= 0) return std::nullopt;
  return limit;
}

// What a limit leaves; pages of files that nobody uses now make room when it is needed.
std::optional<Bytes> left_in(const fs::path& folder, const char* limit_file, const char* used_file,
                             std::string_view reclaimable) {
  const auto limit = limit_in(folder / limit_file);
  const auto used = whole(first_line(folder / used_file));
  if (!limit || !used) return std::nullopt;
  const auto unused_files = whole(value_of_key(folder / "memory.stat", reclaimable, ' '));
  return std::max<Bytes>(*limit - *used + unused_files.value_or(0), 0);
}

// CPUs in the affinity mask, however many the kernel knows.
double affinity_cores() {
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(static_cast<std::size_t>(cpus)), [](cpu_set_t* s) { CPU_FREE(s); });
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus));
    if (set && sched_getaffinity(0, bytes, set.get()) == 0) return CPU_COUNT_S(bytes, set.get());
  }
  return static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

Bytes physical_memory() {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return 0;
  return static_cast<Bytes>(info.totalram) * static_cast<Bytes>(info.mem_unit);
}

// Whether CAP_IPC_LOCK is in force.
bool may_exceed_lock_limit() {
  constexpr int kCapability = 14;
  std::ifstream status("/proc/self/status");
  std::string key;
  while (status >> key) {
    std::uint64_t mask = 0;
    if (key == "CapEff:" && status >> std::hex >> mask) return (mask >> kCapability & 1) != 0;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return false;
}

}  // namespace

std::optional<double> cgroup_cores(const fs::path& root) {
  std::optional<double> best;
  if (const auto group = cgroup_path(root, "")) {
    for_each_group(root / "sys/fs/cgroup", *group,
                   [&](const fs::path& folder) { keep_smaller(best, quota_v2(folder)); });
  }
  if (const auto group = cgroup_path(root, "cpu")) {
    for (const char* mount : {"sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"}) {
      for_each_group(root / mount, *group,
                     [&](const fs::path& folder) { keep_smaller(best, quota_v1(folder)); });
    }
  }
  return best;
}

std::optional<Bytes> cgroup_memory(const fs::path& root) {
  std::optional<Bytes> best;
  if (const auto group = cgroup_path(root, "")) {
    for_each_group(root / "sys/fs/cgroup", *group, [&](const fs::path& folder) {
      keep_smaller(best, limit_in(folder / "memory.max"));
    });
  }
  if (const auto group = cgroup_path(root, "memory")) {
    for_each_group(root / "sys/fs/cgroup/memory", *group, [&](const fs::path& folder) {
      keep_smaller(best, limit_in(folder / "memory.limit_in_bytes"));
    });
  }
  return best;
}

std::optional<Bytes> free_memory(const fs::path& root) {
  std::optional<Bytes> best;
  constexpr std::int64_t kKibi = 1024;
  const auto available = whole(value_of_key(root / "proc/meminfo", "MemAvailable", ':'));
  if (available && *available >= 0 && *available < kBeyondAll / kKibi) best = *available * kKibi;
  if (const auto group = cgroup_path(root, "")) {
    for_each_group(root / "sys/fs/cgroup", *group, [&](const fs::path& folder) {
      keep_smaller(best, left_in(folder, "memory.max", "memory.current", "inactive_file "));
    });
  }
  if (const auto group = cgroup_path(root, "memory")) {
    for_each_group(root / "sys/fs/cgroup/memory", *group, [&](const fs::path& folder) {
      keep_smaller(best, left_in(folder, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                 "total_inactive_file "));
    });
  }
  return best;
}

std::optional<SharedFolder> read_shared_folder() {
  struct statvfs state {};
  if (::statvfs("/dev/shm", &state) != 0 || state.f_blocks == 0) return std::nullopt;
  const auto block = static_cast<Bytes>(state.f_frsize);
  const auto all = static_cast<Bytes>(state.f_blocks), left = static_cast<Bytes>(state.f_bfree);
  return SharedFolder{(all - left) * block, static_cast<Bytes>(state.f_bavail) * block};
}

std::optional<Bytes> lockable_memory() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      may_exceed_lock_limit())
    return std::nullopt;
  return static_cast<Bytes>(std::min<rlim_t>(limit.rlim_cur, rlim_t{1} << 62));
}

MachineFacts read_machine() {
  MachineFacts machine;
  machine.cpu = value_of_key("/proc/cpuinfo", "model name", ':');
  machine.os = value_of_key("/etc/os-release", "PRETTY_NAME", '=');
  utsname names{};
  if (uname(&names) == 0) {
    machine.kernel = names.release;
    if (machine.cpu.empty()) machine.cpu = names.machine;
  }
  machine.logical_cpus = sysconf(_SC_NPROCESSORS_ONLN);
  machine.cores = std::min(affinity_cores(), cgroup_cores("/").value_or(1e9));
  machine.memory_bytes = std::min(physical_memory(), cgroup_memory("/").value_or(INT64_MAX));
  return machine;
}

}  // namespace loaderscope
