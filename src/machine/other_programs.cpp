#include "machine/other_programs.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "loaderscope/errors.h"
#include "machine/process_stat.h"

namespace loaderscope {
namespace {

constexpr double kWorthNaming = 0.01;

std::vector<pid_t> all_processes(const std::filesystem::path& root) {
  std::vector<pid_t> processes;
  std::error_code error;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator at(root / "proc", error); !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    const auto pid = static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10));
    if (pid > 0) processes.push_back(pid);
  }
  return processes;
}

// `own` and its descendants.
std::set<pid_t> family_of(pid_t own, const std::map<pid_t, ProcessStat>& stats) {
  std::set<pid_t> family = {own};
  for (std::size_t before = 0; before != family.size();) {
    before = family.size();
    for (const auto& [pid, stat] : stats) {
      if (family.contains(stat.parent)) family.insert(pid);
    }
  }
  return family;
}

}  // namespace

OtherPrograms::OtherPrograms(const std::filesystem::path& root, pid_t own) {
  std::map<pid_t, ProcessStat> stats;
  for (const pid_t pid : all_processes(root)) {
    const auto stat = read_process_stat((root / "proc" / std::to_string(pid)).string());
    if (stat) stats.emplace(pid, *stat);
  }
  const std::set<pid_t> family = family_of(own, stats);
  for (const auto& [pid, stat] : stats) {
    if (!family.contains(pid))
      processes_[{pid, stat.started}] = {shown_text(stat.name), stat.own.cpu_s()};
  }
}

std::vector<Detail> OtherPrograms::since(const OtherPrograms& before) const {
  std::map<std::string, double> used;
  double all = 0;
  for (const auto& [key, process] : processes_) {
    const auto earlier = before.processes_.find(key);
    const double so_far = earlier == before.processes_.end() ? 0 : earlier->second.cpu_s;
    used[process.name] += process.cpu_s - so_far;
    all += process.cpu_s - so_far;
  }
  std::vector<Detail> details;
  for (const auto& [name, cpu_s] : used) {
    if (all > 0 && cpu_s / all >= kWorthNaming)
      details.push_back({"host.other_cpu_s", name, cpu_s / all});
  }
  std::stable_sort(details.begin(), details.end(),
                   [](const Detail& a, const Detail& b) { return a.share > b.share; });
  return details;
}

}  // namespace loaderscope
