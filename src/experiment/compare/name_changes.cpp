#include "experiment/compare/name_changes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace loaderscope::compare {
namespace {

// Returns the names in stages that make batches: "augment RandomErasing".
std::set<std::string> names_in(const SideRun& run) {
  std::set<std::string> names;
  for (const Detail& detail : run.details) {
    const std::optional<Stage> stage = loaderscope::value_of<Stage>(detail.about);
    if (!stage || stage == Stage::opaque || !makes_batches(cause_of(*stage))) continue;
    names.insert(detail.about + " " + detail.text);
  }
  return names;
}

// "feature (train.py:31)" of one commit may be "feature (train.py:32)" of another.
std::string without_line(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  const bool has_line = colon != name.npos && colon + 2 < name.size() && name.ends_with(')') &&
                        std::all_of(name.begin() + static_cast<std::ptrdiff_t>(colon) + 1,
                                    name.end() - 1, [](char c) { return c >= '0' && c <= '9'; });
  return has_line ? name.substr(0, colon) + ")" : name;
}

using Times = std::map<std::string, std::array<double, 2>>;  // seconds per sample, of each arm

void add_times(Times& times, const SideRun& run, std::string_view stage, double runs_of_arm) {
  const double whole =
      value_of(run.quantities, std::string(stage) + std::string(kWall)).value_or(0);
  for (const Detail& detail : run.details) {
    if (detail.about != stage || detail.share <= 0) continue;
    times[without_line(detail.text)].at(static_cast<std::size_t>(run.arm)) +=
        detail.share * whole / runs_of_arm;
  }
}

}  // namespace

std::vector<std::string> names_only_in(const Comparison& comparison, std::int64_t arm) {
  std::optional<std::set<std::string>> all;
  std::set<std::string> others;
  for (const SideRun& run : comparison.runs) {
    const std::set<std::string> names = names_in(run);
    if (run.arm != arm) {
      others.insert(names.begin(), names.end());
    } else if (!all) {
      all = names;
    } else {
      std::erase_if(*all, [&](const std::string& name) { return !names.contains(name); });
    }
  }
  std::vector<std::string> result;
  for (const std::string& name : all.value_or(std::set<std::string>())) {
    if (!others.contains(name)) result.push_back(name);
  }
  return result;
}

std::vector<NameChange> name_changes(const Comparison& comparison, std::string_view blamed) {
  if (blamed.starts_with(kWaitFor)) blamed.remove_prefix(kWaitFor.size());
  std::array<double, 2> runs{};
  for (const SideRun& run : comparison.runs) ++runs.at(static_cast<std::size_t>(run.arm));
  Times times;
  for (const SideRun& run : comparison.runs)
    add_times(times, run, blamed, runs.at(static_cast<std::size_t>(run.arm)));
  std::vector<NameChange> changes;
  for (const auto& [name, of_arm] : times) changes.push_back({name, of_arm[0], of_arm[1]});
  std::stable_sort(changes.begin(), changes.end(), [](const NameChange& x, const NameChange& y) {
    return std::abs(x.b - x.a) > std::abs(y.b - y.a);
  });
  return changes;
}

}  // namespace loaderscope::compare
