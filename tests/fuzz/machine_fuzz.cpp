// Files of /proc, of cgroups and of /sys: with any content, nothing is thrown, and limits are
// positive. The first file contains the whole input, and each later file begins one line further.
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/cpu_set.h"
#include "device/cuda/gpu_link.h"
#include "machine/cgroup.h"
#include "machine/machine.h"
#include "machine/machine_load.h"
#include "machine/proc_file.h"
#include "machine/process_counters.h"

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 16> kFiles = {
    "proc/self/cgroup",
    "proc/meminfo",
    "proc/stat",
    "proc/1/stat",
    "sys/fs/cgroup/a/cpu.max",
    "sys/fs/cgroup/cpu.max",
    "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us",
    "sys/fs/cgroup/cpu/a/cpu.cfs_period_us",
    "sys/fs/cgroup/a/memory.max",
    "sys/fs/cgroup/a/memory.current",
    "sys/fs/cgroup/a/memory.stat",
    "sys/fs/cgroup/memory/a/memory.limit_in_bytes",
    "sys/bus/pci/devices/0000:65:00.0/numa_node",
    "sys/bus/pci/devices/0000:65:00.0/current_link_width",
    "sys/devices/system/node/node0/cpulist",
    "sys/fs/cgroup/a/cpu.stat"};

// A folder of this process, removed with it.
class Root {
 public:
  Root() : path_(fs::temp_directory_path() / ("loaderscope-fuzz-" + std::to_string(::getpid()))) {
    for (const char* file : kFiles) fs::create_directories((path_ / file).parent_path());
  }
  ~Root() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  const fs::path& path() const { return path_; }
  void fill(std::string_view text) const {
    for (const char* file : kFiles) {
      std::ofstream(path_ / file, std::ios::binary | std::ios::trunc) << text;
      text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
    }
  }

 private:
  fs::path path_;
};

void demand(bool sound) {
  if (!sound) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace loaderscope;
  if (size > 4096) return 0;
  static const Root root;
  const std::string text(reinterpret_cast<const char*>(data), size);
  root.fill(text);
  demand(cgroup_cores(root.path()).value_or(1) > 0);
  demand(cgroup_memory(root.path()).value_or(1) > 0);
  demand(cgroup_memory_left(root.path()).value_or(0) >= 0);
  demand(free_memory(root.path()).value_or(0) >= 0);
  static_cast<void>(read_machine_load(root.path()));
  static_cast<void>(read_process_stat((root.path() / "proc/1").string()));
  static_cast<void>(read_process_counters({}, root.path()));
  static_cast<void>(read_values((root.path() / "proc/meminfo").string(), {"MemFree", "Active"}));
  static_cast<void>(gpu_link_metrics(root.path(), "0000:65:00.0", {0, 1, 2}));
  static_cast<void>(parse_cpu_list(text));
  return 0;
}
