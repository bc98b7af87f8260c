#include "experiment/compare/exact_counts.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace loaderscope::compare {
namespace {

// Repeatability of a count. A count is usable if both runs of an arm in a block have the same
// value. Results contain only such counts.
enum class Repeats : std::uint8_t { never, alike, differs };

// Blocks in which the arms must differ, always in the same direction. A count that flickers in few
// runs may be equal in both runs of an arm by chance, but rarely in this many blocks.
constexpr std::size_t kMinBlocks = 3;

Repeats repeats(const Comparison& comparison, std::string_view name) {
  bool compared = false;
  std::set<std::int64_t> more, less;  // blocks, by what B has
  const auto& runs = comparison.runs;
  for (const SideRun& one : runs) {
    for (const SideRun& other : runs) {
      if (&one == &other || one.block != other.block) continue;
      const auto x = value_of(one.counts, name), y = value_of(other.counts, name);
      if (one.arm == other.arm && x != y) return Repeats::never;
      compared = compared || one.arm == other.arm;
      if (one.arm != 0 || other.arm != 1) continue;
      if (x.value_or(0) < y.value_or(0)) more.insert(one.block);
      if (x.value_or(0) > y.value_or(0)) less.insert(one.block);
    }
  }
  if (!compared && !comparison.is_of_results) return Repeats::never;
  if (more.empty() && less.empty()) return Repeats::alike;
  const auto planned = static_cast<std::size_t>(comparison.planned_pairs / kPairsOfBlock);
  const std::size_t needed = std::clamp<std::size_t>(planned, 1, kMinBlocks);
  const bool one_way = more.empty() || less.empty();
  return one_way && more.size() + less.size() >= needed ? Repeats::differs : Repeats::never;
}

double mean_count(const Comparison& comparison, std::int64_t arm, std::string_view name) {
  double sum = 0, runs = 0;
  for (const SideRun& run : comparison.runs) {
    if (run.arm != arm) continue;
    sum += value_of(run.counts, name).value_or(0);
    ++runs;
  }
  return runs > 0 ? sum / runs : 0;
}

// Returns the counts of all runs, in the order of the runs.
std::vector<std::string> names_of_counts(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const SideRun& run : comparison.runs) {
    for (const auto& [name, count] : run.counts) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

}  // namespace

void compare_counts(ComparisonResult& judgement, const Comparison& comparison) {
  for (const std::string& name : names_of_counts(comparison)) {
    const Repeats how = repeats(comparison, name);
    if (how == Repeats::never) {
      judgement.uncounted.push_back(name);
      continue;
    }
    CountChange change{name, mean_count(comparison, 0, name), mean_count(comparison, 1, name)};
    if (how == Repeats::alike) change.b = change.a;
    judgement.counts.push_back(std::move(change));
  }
}

}  // namespace loaderscope::compare
