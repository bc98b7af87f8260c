#include "machine/machine.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <array>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "machine/cgroup.h"
#include "machine/proc_file.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

// Returns the value after "KEY<separator>" in a file of such lines; "" when there is none.
std::string value_of_key(const fs::path& file, std::string_view key, char separator) {
  std::ifstream input(file);
  for (std::string line; std::getline(input, line);) {
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

// Returns the rest of ulimit -v; nothing when unlimited.
std::optional<Bytes> address_space_left(const fs::path& root) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const auto most = static_cast<Bytes>(std::min<rlim_t>(limit.rlim_cur, kBeyondAll));
  const auto used = read_value((root / "proc/self/status").string(), "VmSize").value_or(0);
  return std::max<Bytes>(most - std::clamp<Bytes>(used, 0, kBeyondAll / kKibi) * kKibi, 0);
}

Bytes physical_memory() {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return 0;
  return static_cast<Bytes>(info.totalram) * static_cast<Bytes>(info.mem_unit);
}

// Returns true if CAP_IPC_LOCK is effective.
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

bool may_have_accelerator(const fs::path& root) {
  // nvidia; WSL; AMD; any that draws, too; accelerators by the kernel's own name
  constexpr std::array kPlaces = {
      "proc/driver/nvidia", "dev/nvidiactl", "dev/dxg", "dev/kfd", "dev/dri", "dev/accel"};
  return std::any_of(kPlaces.begin(), kPlaces.end(), [&](const char* place) {
    std::error_code error;
    return fs::exists(root / place, error);
  });
}

void read_gpus(const fs::path& root, MachineFacts& machine) {
  std::map<std::string, int> models;
  std::error_code error;
  for (fs::directory_iterator entry(root / "proc/driver/nvidia/gpus", error), end;
       !error && entry != end; entry.increment(error))
    ++models[value_of_key(entry->path() / "information", "Model", ':')];
  models.erase("");
  for (const auto& [model, count] : models) {
    std::string& gpus = machine.gpus ? * machine.gpus += ", " : machine.gpus.emplace();
    gpus += (count > 1 ? std::to_string(count) + " x " : "") + model;
  }
  std::string version;
  if (std::ifstream(root / "sys/module/nvidia/version") >> version) machine.gpu_driver = version;
}

std::optional<Bytes> free_memory(const fs::path& root) {
  const auto cgroup_left = cgroup_memory_left(root), process_left = address_space_left(root);
  const auto left = cgroup_left && process_left ? std::min(cgroup_left, process_left)
                                                : std::max(cgroup_left, process_left);
  const auto available = read_value((root / "proc/meminfo").string(), "MemAvailable");
  if (!available || *available < 0 || *available >= kBeyondAll / kKibi) return left;
  return std::min(*available * kKibi, left.value_or(kBeyondAll));
}

std::optional<SharedFolder> read_shared_folder(const std::string& root) {
  struct statvfs state {};
  if (::statvfs((root + "/dev/shm").c_str(), &state) != 0 || state.f_blocks == 0)
    return std::nullopt;
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
    machine.host = names.nodename;
    if (machine.cpu.empty()) machine.cpu = names.machine;
  }
  machine.logical_cpus = sysconf(_SC_NPROCESSORS_ONLN);
  machine.cores = std::min(affinity_cores(), cgroup_cores("/").value_or(1e9));
  machine.memory_bytes = std::min(physical_memory(), cgroup_memory("/").value_or(INT64_MAX));
  read_gpus("/", machine);
  return machine;
}

}  // namespace loaderscope
