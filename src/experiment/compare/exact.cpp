#include "experiment/compare/exact.h"

#include <algorithm>
#include <optional>
#include <set>

namespace loaderscope::compare {
namespace {

// Of a count that both runs of an arm in a block have alike; results were kept with those alone
// that are.
enum class Repeats : std::uint8_t { never, alike, differs };

Repeats repeats(const Comparison& comparison, std::string_view name) {
  bool compared = false, differs = false;
  const auto& runs = comparison.runs;
  for (const ArmRun& one : runs) {
    for (const ArmRun& other : runs) {
      if (&one >= &other || one.block != other.block) continue;
      const auto x = value_of(one.counts, name), y = value_of(other.counts, name);
      if (one.arm == other.arm && x != y) return Repeats::never;
      compared = compared || one.arm == other.arm;
      differs = differs || (one.arm != other.arm && x.value_or(0) != y.value_or(0));
    }
  }
  if (!compared && !comparison.is_of_results) return Repeats::never;
  return differs ? Repeats::differs : Repeats::alike;
}

double mean_count(const Comparison& comparison, std::int64_t arm, std::string_view name) {
  double sum = 0, runs = 0;
  for (const ArmRun& run : comparison.runs) {
    if (run.arm != arm) continue;
    sum += value_of(run.counts, name).value_or(0);
    ++runs;
  }
  return runs > 0 ? sum / runs : 0;
}

// Of the stages that make batches: "augment RandomErasing".
std::set<std::string> names_in(const ArmRun& run) {
  std::set<std::string> names;
  for (const Detail& detail : run.details) {
    const std::optional<Stage> stage = loaderscope::value_of<Stage>(detail.about);
    if (stage && makes_batches(cause_of(*stage))) names.insert(detail.about + " " + detail.text);
  }
  return names;
}

}  // namespace

void compare_counts(Judgement& judgement, const Comparison& comparison) {
  for (const CountRow& row : count_table()) {
    const bool there = std::any_of(
        comparison.runs.begin(), comparison.runs.end(),
        [&](const ArmRun& run) { return value_of(run.counts, row.row.name).has_value(); });
    if (!there) continue;
    const Repeats how = repeats(comparison, row.row.name);
    if (how == Repeats::never) {
      judgement.uncounted.emplace_back(row.row.name);
      continue;
    }
    CountChange change{&row, mean_count(comparison, 0, row.row.name),
                       mean_count(comparison, 1, row.row.name)};
    if (how == Repeats::alike) change.b = change.a;
    judgement.counts.push_back(change);
  }
}

std::vector<std::string> names_only_in(const Comparison& comparison, std::int64_t arm) {
  std::optional<std::set<std::string>> all;
  std::set<std::string> others;
  for (const ArmRun& run : comparison.runs) {
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

}  // namespace loaderscope::compare
