#include "machine/machine_load.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

#include "base/thread_meter.h"
#include "loaderscope/errors.h"
#include "machine/cgroup.h"
#include "machine/machine.h"
#include "machine/proc_file.h"
#include "machine/process_counters.h"

namespace loaderscope {
namespace {

double cpu_seconds(int who) {
  rusage usage{};
  if (getrusage(who, &usage) != 0) return 0;
  return timeval_seconds(usage.ru_utime) + timeval_seconds(usage.ru_stime);
}

// "0-1" or "0,64": more than one thread on the core of CPU 0.
bool has_hyperthreads(const std::filesystem::path& root) {
  std::ifstream input(root / "sys/devices/system/cpu/smt/active");
  int active = 0;
  return static_cast<bool>(input >> active) && active == 1;
}

}  // namespace

std::optional<MachineLoad> read_machine_load(const std::filesystem::path& root,
                                             const CpuSet& cpus) {
  std::ifstream input(root / "proc/stat");
  std::string label;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft_irq = 0, steal = 0;
  if (!(input >> label >> user >> nice >> system >> idle >> wait >> irq >> soft_irq >> steal) ||
      label != "cpu")
    return std::nullopt;
  MachineLoad load;
  const auto ticks = static_cast<double>(std::max(1L, sysconf(_SC_CLK_TCK)));
  load.busy_s = (user + nice + system + irq + soft_irq + steal) / ticks;
  input.seekg(0);
  load.busy_s = busy_seconds(input, cpus).value_or(load.busy_s);
  load.own_s = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN);
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
    const bool has_quota = quota && *quota <= machine.cores;
    notes.push_back(fmt::format("{:g} of {} CPUs may be used: {} takes the others away",
                                machine.cores, machine.logical_cpus,
                                has_quota ? "a CPU quota" : "the affinity of this process"));
  }
  if (has_hyperthreads(root)) {
    notes.push_back(
        "CPUs are hyperthreads (SMT): two workers on one core are slower than on two; beyond half "
        "of the CPUs a worker adds less");
  }
  return notes;
}

namespace {

bool is_disk(const std::string& name, const std::filesystem::path& root) {
  if (name.starts_with("loop") || name.starts_with("ram") || name.starts_with("zram")) return false;
  std::error_code error;
  return std::filesystem::exists(root / "sys/block" / name, error);
}

}  // namespace

// "253 0 vda READS MERGED SECTORS MS WRITES MERGED SECTORS MS UNDER_WAY BUSY_MS ...".
std::map<std::string, DiskLoad> read_disks(const std::filesystem::path& root) {
  constexpr Bytes kSector = 512;
  std::map<std::string, DiskLoad> disks;
  std::istringstream lines(read_text((root / "proc/diskstats").string()));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::int64_t major = 0, minor = 0, value[10] = {};
    std::string name;
    words >> major >> minor >> name;
    for (std::int64_t& one : value) words >> one;
    if (words && is_disk(name, root))
      disks[name] = {static_cast<double>(value[9]) / 1e3, value[2] * kSector};
  }
  return disks;
}

namespace {

constexpr double kWorthNaming = 0.01;

}  // namespace

OtherPrograms::OtherPrograms(const std::filesystem::path& root, pid_t own) {
  const ProcessTable all = read_processes(root);
  add_but(process_family(own, all), all);
}

OtherPrograms::OtherPrograms(const ProcessTable& all, const std::set<pid_t>& own) {
  add_but(own, all);
}

void OtherPrograms::add_but(const std::set<pid_t>& own, const ProcessTable& all) {
  for (const auto& [pid, stat] : all) {
    if (own.contains(pid)) continue;
    const std::string name = stat.is_of_kernel ? "the kernel" : shown_text(stat.name);
    processes_[{pid, stat.started}] = {name, stat.own.cpu_s()};
  }
}

std::map<std::string, double> OtherPrograms::cpu_s_since(const OtherPrograms& before) const {
  std::map<std::string, double> used;
  for (const auto& [key, process] : processes_) {
    const auto earlier = before.processes_.find(key);
    const double so_far = earlier == before.processes_.end() ? 0 : earlier->second.cpu_s;
    used[process.name] += process.cpu_s - so_far;
  }
  return used;
}

std::vector<Detail> OtherPrograms::since(const OtherPrograms& before) const {
  const std::map<std::string, double> used = cpu_s_since(before);
  double all = 0;
  for (const auto& [name, cpu_s] : used) all += cpu_s;
  std::vector<Detail> details;
  for (const auto& [name, cpu_s] : used) {
    if (all > 0 && cpu_s / all >= kWorthNaming)
      details.push_back({metric::host_other_cpu_s, name, cpu_s / all});
  }
  std::stable_sort(details.begin(), details.end(),
                   [](const Detail& a, const Detail& b) { return a.share > b.share; });
  return details;
}

}  // namespace loaderscope
