#include "experiment/compare/compared_quantities.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/quantiles.h"

namespace loaderscope::compare {
namespace {

// Degrees of freedom of the shortest comparison whose spread is kept: its runs less its blocks, the
// arm and time.
constexpr std::int64_t kDegreesOfKnown = 2 * kMinPairs - kMinPairs / kPairsOfBlock - 2;
constexpr std::int64_t kDegreesOfAssumed = 1000;  // no estimate, and so without an error of its own

constexpr double kWorthComparing = 0.01;  // share of the time of all stages, or of the window
constexpr double kDisturbance = 0.25;     // share of all cores, more than in the median run

bool is_in_all_runs(const Runs& runs, std::string_view name, bool above_0) {
  return !runs.empty() && std::all_of(runs.begin(), runs.end(), [&](const SideRun* run) {
    const std::optional<double> value = value_of(run->quantities, name);
    return value && (!above_0 || *value > 0);
  });
}

// `quantity`: as the runs call it.
ComparedQuantity ask(const Runs& runs, Difference difference, std::string_view quantity) {
  ComparedQuantity question{std::move(difference)};
  std::vector<BlockValue> values;
  const bool ratio = question.difference.scale == Scale::ratio;
  for (const SideRun* run : runs) {
    const double value = value_of(run->quantities, quantity).value_or(0);
    values.push_back({run->block, run->arm == 1, ratio ? std::log(value) : value});
  }
  question.test = BlockTest(values);
  question.difference.a = mean_value(runs, 0, quantity);
  question.difference.b = mean_value(runs, 1, quantity);
  return question;
}

Difference make_difference(const QuantityRow& row) {
  Difference difference;
  difference.row = &row;
  difference.name = row.row.name;
  difference.scale = row.scale;
  difference.more_is_worse = row.more_is_worse;
  return difference;
}

void ask_of_rows(std::vector<ComparedQuantity>& questions, const Runs& runs, bool deciding) {
  for (const QuantityRow& row : quantity_table()) {
    if (row.decides != deciding || !is_in_all_runs(runs, row.row.name, row.scale == Scale::ratio))
      continue;
    questions.push_back(ask(runs, make_difference(row), row.row.name));
  }
}

// Compares CPU time, or wall time if a stage waits more than it computes.
void ask_of_stages(std::vector<ComparedQuantity>& questions, const Runs& runs) {
  double all_a = 0, all_b = 0;
  for (const Stage stage : compared_stages()) {
    all_a += mean_wall(runs, 0, stage);
    all_b += mean_wall(runs, 1, stage);
  }
  for (const Stage stage : compared_stages()) {
    const double a = mean_wall(runs, 0, stage), b = mean_wall(runs, 1, stage);
    if (a < kWorthComparing * all_a && b < kWorthComparing * all_b) continue;
    const std::string name(name_of(stage));
    const bool waits = mean_value(runs, 0, name) < a / 2;
    const std::string quantity = waits ? name + std::string(kWall) : name;
    if (!is_in_all_runs(runs, quantity, true)) continue;
    Difference difference;
    difference.name = name;
    questions.push_back(ask(runs, std::move(difference), quantity));
  }
}

// Without a compute all of the window is waiting, and its parts say nothing more than the stages.
void ask_of_waits(std::vector<ComparedQuantity>& questions, const Runs& runs) {
  if (!is_in_all_runs(runs, "busy", false)) return;
  for (const auto& word : Words<Cause>::table()) {
    const std::string name = std::string(kWaitFor) + std::string(word.name);
    if (mean_value(runs, 0, name) < kWorthComparing && mean_value(runs, 1, name) < kWorthComparing)
      continue;
    Difference difference;
    difference.name = name;
    difference.scale = Scale::share;
    questions.push_back(ask(runs, std::move(difference), name));
  }
}

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

Runs quiet_runs(const Comparison& comparison) {
  std::vector<double> others;
  for (const SideRun& run : comparison.runs) others.push_back(run.other_cores);
  const double most = find_median(others) + kDisturbance * comparison.cores;
  Runs all, left;
  std::array<std::int64_t, 2> side_runs{}, left_side_runs{};
  for (const SideRun& run : comparison.runs) {
    const auto arm = static_cast<std::size_t>(run.arm);
    all.push_back(&run);
    ++side_runs.at(arm);
    if (run.other_cores > most) continue;
    left.push_back(&run);
    ++left_side_runs.at(arm);
  }
  const bool enough = left_side_runs[0] >= kMinPairs && left_side_runs[1] >= kMinPairs &&
                      2 * left_side_runs[0] > side_runs[0] && 2 * left_side_runs[1] > side_runs[1];
  return enough ? left : all;
}

double mean_value(const Runs& runs, std::int64_t arm, std::string_view name) {
  double sum = 0, count = 0;
  for (const SideRun* run : runs) {
    if (run->arm != arm) continue;
    sum += value_of(run->quantities, name).value_or(0);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

double mean_wall(const Runs& runs, std::int64_t arm, Stage stage) {
  return mean_value(runs, arm, std::string(name_of(stage)) + std::string(kWall));
}

std::vector<ComparedQuantity> questions_about_two(const Runs& runs, const KnownNoise& known) {
  std::vector<ComparedQuantity> questions;
  for (const QuantityRow& row : quantity_table()) {
    const bool is_rate = row.row.name == "samples-per-s", is_cpu = row.row.name == "cpu-per-sample";
    if ((!is_rate && !is_cpu) || !is_in_all_runs(runs, row.row.name, true)) continue;
    ComparedQuantity question = ask(runs, make_difference(row), row.row.name);
    question.test = BlockTest::with_known_deviation(
        std::log(question.difference.b / question.difference.a), is_rate ? known.rate : known.cpu,
        known.jobs > 0 ? kDegreesOfKnown : kDegreesOfAssumed);
    questions.push_back(std::move(question));
  }
  return questions;
}

std::vector<ComparedQuantity> questions_about(const Runs& runs) {
  std::vector<ComparedQuantity> questions;
  ask_of_rows(questions, runs, true);
  ask_of_stages(questions, runs);
  ask_of_waits(questions, runs);
  ask_of_rows(questions, runs, false);
  return questions;
}

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
