#include "machine/other_programs.h"

#include <algorithm>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr double kWorthNaming = 0.01;

}  // namespace

OtherPrograms::OtherPrograms(const std::filesystem::path& root, pid_t own) {
  const ProcessTable all = read_processes(root);
  add_but(family_of(own, all), all);
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
