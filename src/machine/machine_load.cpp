#include "machine/machine_load.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/thread_meter.h"
#include "machine/cgroup.h"
#include "machine/machine.h"
#include "machine/process_counters.h"

namespace loaderscope {
namespace {

double cpu_of(int who) {
  rusage usage{};
  if (getrusage(who, &usage) != 0) return 0;
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

// "0-1" or "0,64": more than one thread on the core of CPU 0.
bool has_hyperthreads(const std::filesystem::path& root) {
  std::ifstream in(root / "sys/devices/system/cpu/smt/active");
  int active = 0;
  return static_cast<bool>(in >> active) && active == 1;
}

}  // namespace

std::optional<MachineLoad> read_machine_load(const std::filesystem::path& root,
                                             const CpuSet& cpus) {
  std::ifstream in(root / "proc/stat");
  std::string label;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft_irq = 0, steal = 0;
  if (!(in >> label >> user >> nice >> system >> idle >> wait >> irq >> soft_irq >> steal) ||
      label != "cpu")
    return std::nullopt;
  MachineLoad load;
  const auto ticks = static_cast<double>(std::max(1L, sysconf(_SC_CLK_TCK)));
  load.busy_s = (user + nice + system + irq + soft_irq + steal) / ticks;
  in.seekg(0);
  load.busy_s = busy_seconds(in, cpus).value_or(load.busy_s);
  load.own_s = cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN);
  load.at = monotonic_now();
  return load;
}

double other_cores(const MachineLoad& begin, const MachineLoad& end) {
  const double wall = seconds(end.at - begin.at);
  if (wall <= 0) return 0;
  const double others = (end.busy_s - begin.busy_s) - (end.own_s - begin.own_s);
  return std::max(0.0, others / wall);
}

std::vector<std::string> notes_on_cores(const MachineFacts& machine,
                                        const std::filesystem::path& root) {
  std::vector<std::string> notes;
  if (machine.logical_cpus > 0 && machine.cores < static_cast<double>(machine.logical_cpus)) {
    const auto quota = cgroup_cores(root);
    const bool by_quota = quota && *quota <= machine.cores;
    notes.push_back(fmt::format("{:g} of {} CPUs may be used: {} takes the others away",
                                machine.cores, machine.logical_cpus,
                                by_quota ? "a CPU quota" : "the affinity of this process"));
  }
  if (has_hyperthreads(root)) {
    notes.push_back(
        "CPUs are hyperthreads (SMT): two workers on one core are slower than on two; beyond half "
        "of the CPUs a worker adds less");
  }
  return notes;
}

}  // namespace loaderscope
