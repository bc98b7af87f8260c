#include "experiment/compare/exact.h"

#include <algorithm>
#include <optional>

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

}  // namespace loaderscope::compare
