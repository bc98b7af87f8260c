#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/compare/compare.h"
#include "experiment/compare/compared_quantities.h"
#include "loaderscope/errors.h"

namespace loaderscope::compare {
namespace {

constexpr double kAlpha = 0.01;      // probability of a false change among all quantities
constexpr double kAlphaSame = 0.05;  // probability of a false "same" of one quantity
constexpr double kPower = 0.8;
constexpr std::int64_t kMaxUsefulPairs = 1000;  // limit of a practical number

double scaled_change(Scale scale, double measured) {
  return scale == Scale::ratio ? std::expm1(measured) : measured;
}

void answer(ComparedQuantity& question, double p, double band, double alpha) {
  Difference& difference = question.difference;
  const BlockTest& test = question.test;
  const Scale scale = difference.scale;
  const Estimate raw = test.interval(0.95);
  difference.change = {scaled_change(scale, raw.mean), scaled_change(scale, raw.low),
                       scaled_change(scale, raw.high)};
  difference.p = p;
  difference.spread = test.deviation();
  difference.least_seen = scaled_change(scale, test.least_seen(alpha, kPower));
  const double inside = scale == Scale::ratio ? std::log1p(band) : band;
  if (test.p_beyond(inside) < kAlphaSame) {
    difference.verdict = Outcome::same;
  } else if (p < kAlpha) {
    const bool more = test.mean() > 0;
    difference.verdict = more == difference.more_is_worse ? Outcome::worse : Outcome::better;
  }
}

std::int64_t pairs_needed(const ComparedQuantity& question, std::int64_t pairs, double band,
                          double alpha) {
  const double inside = question.difference.scale == Scale::ratio ? std::log1p(band) : band;
  const double mean = std::abs(question.test.mean());
  const double more = std::min(question.test.more_for(mean, 1 - alpha),
                               question.test.more_for(inside - mean, 1 - 2 * kAlphaSame));
  const double needed =
      std::ceil(more * static_cast<double>(pairs) / kPairsOfBlock) * kPairsOfBlock;
  return needed <= kMaxUsefulPairs ? static_cast<std::int64_t>(needed) : 0;
}

// B B of each block, and A A between two.
void compare_with_itself(ComparisonResult& judgement, const Comparison& comparison) {
  std::vector<double> values;
  const auto& runs = comparison.runs;
  for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
    if (runs[i].arm != runs[i + 1].arm) continue;
    const auto before = value_of(runs[i].quantities, "samples-per-s");
    const auto after = value_of(runs[i + 1].quantities, "samples-per-s");
    if (before && after && *before > 0 && *after > 0) values.push_back(std::log(*after / *before));
  }
  judgement.pairs_of_itself = std::ssize(values);
  if (values.size() < 2) return;
  const Estimate raw = mean_with_interval(values, 0.95);
  judgement.against_itself = {std::expm1(raw.mean), std::expm1(raw.low), std::expm1(raw.high)};
}

// Returns the free share of the workers' time.
double rate_margin(const Runs& runs, std::int64_t arm, double rate_needed, std::int64_t workers) {
  double busy = mean_wall(runs, arm, Stage::transport);
  for (const Stage stage : kMakingStages) busy += mean_wall(runs, arm, stage);
  return 1 - rate_needed * busy / static_cast<double>(workers);
}

std::optional<Matters> whether_it_matters(const Comparison& comparison, const Runs& runs) {
  const Options& options = comparison.options;
  const auto is_of = [&](std::int64_t arm) {
    return std::any_of(runs.begin(), runs.end(),
                       [&](const SideRun* run) { return run->arm == arm; });
  };
  const bool has_both = is_of(0) && is_of(1);
  Matters matters{options.rate_needed, options.workers, options.workers};
  if (options.workers <= 0) {
    matters.workers = comparison.workers;
    matters.workers_of_b = comparison.workers_of_b.value_or(comparison.workers);
  }
  const std::int64_t fewest = std::min(matters.workers, matters.workers_of_b);
  if (matters.rate_needed <= 0 || fewest <= 0 || !has_both) return std::nullopt;
  matters.margin_a = rate_margin(runs, 0, matters.rate_needed, matters.workers);
  matters.margin_b = rate_margin(runs, 1, matters.rate_needed, matters.workers_of_b);
  return matters;
}

bool is_of_memory(const Difference& one) {
  return one.row != nullptr && one.row->row.name == "memory";
}

bool does_more(const ComparisonResult& judgement) {
  return std::any_of(judgement.counts.begin(), judgement.counts.end(),
                     [](const CountChange& count) { return count.b > count.a; });
}

// A faster job is faster even if it takes more CPU time. Memory is a separate question. If settings
// differ, only the rate decides.
Outcome decide_verdict(const ComparisonResult& judgement, const Comparison& comparison) {
  const auto any = [&](Outcome verdict, bool deciding) {
    return std::any_of(judgement.differences.begin(), judgement.differences.end(),
                       [&](const Difference& one) {
                         return one.verdict == verdict && !is_of_memory(one) &&
                                (!deciding || (one.row != nullptr && one.row->decides));
                       });
  };
  const Difference* rate = judgement.find("samples-per-s");
  if (rate != nullptr && (rate->verdict == Outcome::better || !comparison.changed_settings.empty()))
    return rate->verdict;
  const bool more_work = comparison.same_flags && does_more(judgement);
  if (any(Outcome::worse, false) || more_work) return Outcome::worse;
  if (any(Outcome::better, true)) return Outcome::better;
  const bool known = rate != nullptr && !any(Outcome::cannot_tell, true);
  return known ? Outcome::same : Outcome::cannot_tell;
}

// Returns the names in stages that make batches: "augment RandomErasing".
std::set<std::string> stage_names(const SideRun& run) {
  std::set<std::string> names;
  for (const Detail& detail : run.details) {
    const std::optional<Stage> stage = loaderscope::value_of<Stage>(detail.about);
    if (!stage || stage == Stage::opaque || !makes_batches(stage_cause(*stage))) continue;
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

// "augment RandomErasing": what all runs of one arm have and no run of the other. Lines of code are
// none: a run names those that it was found at.
std::vector<std::string> unique_names(const Comparison& comparison, std::int64_t arm) {
  std::optional<std::set<std::string>> all;
  std::set<std::string> others;
  for (const SideRun& run : comparison.runs) {
    const std::set<std::string> names = stage_names(run);
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

// Returns the changes of a stage, or of the wait for it, the largest first. A line of code counts
// for its function.
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

}  // namespace

const Difference* ComparisonResult::find(std::string_view name) const {
  for (const Difference& one : differences) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

const Difference* ComparisonResult::blamed() const {
  const Difference* most = nullptr;
  for (const Difference& one : differences) {
    if (one.row != nullptr || one.verdict != verdict || one.scale != Scale::ratio) continue;
    if (most == nullptr || std::abs(one.b - one.a) > std::abs(most->b - most->a)) most = &one;
  }
  if (most != nullptr) return most;
  for (const Difference& one : differences) {
    if (one.row != nullptr || one.verdict != verdict) continue;
    if (most == nullptr || std::abs(one.b - one.a) > std::abs(most->b - most->a)) most = &one;
  }
  return most;
}

const Difference* ComparisonResult::more_memory() const {
  for (const Difference& one : differences) {
    if (is_of_memory(one) && one.verdict == Outcome::worse) return &one;
  }
  return nullptr;
}

Anchor judge_anchor(const Comparison& since, double limit) {
  const ComparisonResult judgement = judge(since);
  const Difference* cpu = judgement.find("cpu-per-sample");
  if (cpu == nullptr && !since.interrupted)
    throw RunError(
        "--anchor-ref: no CPU time per sample, as the engine does not measure it or the window is "
        "too short for it",
        "give more --steps");
  return {since.arms[0], cpu != nullptr ? cpu->change : Estimate{}, limit, judgement.pairs};
}

ComparisonResult judge(const Comparison& comparison) {
  ComparisonResult judgement;
  const Runs runs = quiet_runs(comparison);
  const auto runs_a =
      std::count_if(runs.begin(), runs.end(), [](const SideRun* r) { return r->arm == 0; });
  judgement.pairs = std::min<std::int64_t>(runs_a, std::ssize(runs) - runs_a);
  judgement.disturbed = std::ssize(comparison.runs) - std::ssize(runs);
  std::vector<ComparedQuantity> questions;
  if (!comparison.is_of_results) questions = questions_about(runs);
  if (comparison.known) questions = questions_about_two(runs, *comparison.known);
  std::vector<double> p;
  for (const ComparedQuantity& question : questions) p.push_back(question.test.p_differs());
  const std::vector<double> adjusted = holm_adjusted(p);
  const double alpha = kAlpha / static_cast<double>(std::max<std::size_t>(1, questions.size()));
  for (std::size_t i = 0; i < questions.size(); ++i) {
    answer(questions[i], adjusted[i], comparison.options.band, alpha);
    judgement.differences.push_back(questions[i].difference);
  }
  compare_counts(judgement, comparison);
  judgement.verdict =
      comparison.same_because.empty() ? decide_verdict(judgement, comparison) : Outcome::same;
  if (comparison.is_of_results) questions.clear();  // no number of pairs of results would do
  for (const ComparedQuantity& question : questions) {
    const Difference& one = question.difference;
    if (one.row == nullptr || !one.row->decides || one.verdict != Outcome::cannot_tell) continue;
    judgement.more_pairs =
        std::max(judgement.more_pairs,
                 pairs_needed(question, judgement.pairs, comparison.options.band, alpha));
  }
  compare_with_itself(judgement, comparison);
  judgement.matters = whether_it_matters(comparison, runs);
  judgement.new_names = unique_names(comparison, 1);
  judgement.gone_names = unique_names(comparison, 0);
  if (const Difference* blamed = judgement.blamed())
    judgement.name_changes = name_changes(comparison, blamed->name);
  return judgement;
}

}  // namespace loaderscope::compare
