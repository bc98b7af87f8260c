#include "experiment/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/statistics.h"
#include "experiment/case_run.h"
#include "experiment/strata.h"
#include "loaderscope/errors.h"
#include "loaderscope/findings.h"
#include "loaderscope/what_if.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kSamplesOfPrediction = 20'000;
constexpr double kShifts[] = {0.9, 1.1};  // of the time of a step

void explain_error(Tune& tune, const Belief& belief) {
  const std::vector<double> errors = prediction_errors(tune, belief.judgement());
  if (errors.empty()) return;
  tune.error_median = median_of(errors);
  tune.error_worst = *std::max_element(errors.begin(), errors.end());
}

void explain_limit(Tune& tune, const RunRecord& record) {
  Analysis analysis = analyse(record);
  tune.limit = analysis.verdict.bound_by.value_or("");
  tune.limit_sentence = analysis.verdict.sentence;
  add_findings(analysis, record);
  if (analysis.fit && !analysis.fit->can_predict()) return;
  for (const Finding& finding : analysis.findings) {
    if (finding.regained_s <= 0) continue;
    tune.next_step = finding.changes;
    tune.after_next_step = Guess{finding.rate_after, finding.busy_after};
    return;
  }
}

// The cheapest case of a stratum that reaches the goal when the compute takes `factor` of its time,
// in the model.
std::optional<std::size_t> cheapest_at(const Tune& tune, const Belief& belief, const Guesser& guess,
                                       std::size_t stratum, double factor) {
  std::vector<std::pair<std::size_t, Guess>> guesses;
  double best = 0;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    if (tune.candidates[i].stratum != stratum || !tune.candidates[i].predicted) continue;
    Changes changes = predictable(tune.experiment.cases[i].changes);
    std::erase_if(changes, [](const Change& change) { return change.key == "compute.speed"; });
    changes.push_back({"compute.speed", fmt::format("{:.6g}", 1 / factor)});
    guesses.emplace_back(i, guess(changes));
    best = std::max(best, guesses.back().second.samples_per_s);
  }
  std::optional<std::size_t> cheapest;
  for (const auto& [i, said] : guesses) {
    const bool reaches = tune.goal.busy ? said.busy >= *tune.goal.busy
                                        : said.samples_per_s >= tune.goal.share() * best;
    if (reaches && (!cheapest || belief.is_cheaper(i, *cheapest))) cheapest = i;
  }
  return cheapest;
}

void explain_shifts(Tune& tune, const Belief& belief,
                    const std::map<std::size_t, Guesser>& guessers) {
  const std::size_t stratum = tune.candidates[*tune.recommended].stratum;
  const auto guess = guessers.find(stratum);
  if (!tune.experiment.base.compute.given || guess == guessers.end() || !guess->second) return;
  if (!tune.candidates[*tune.recommended].predicted) return;
  try {
    for (const double factor : kShifts)
      tune.shifts.push_back({factor, cheapest_at(tune, belief, guess->second, stratum, factor)});
  } catch (const UsageError&) {
    tune.shifts.clear();  // this compute cannot be scaled
  } catch (const RunError&) {
    tune.shifts.clear();
  }
}

// Two runs of each case that can run, each as long as the runs that were made.
Nanos time_of_grid(const Tune& tune, const Belief& belief, Nanos length) {
  double time = 0;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    const Case& one = tune.experiment.cases[i];
    if (!one.skipped.empty() || !tune.candidates[i].refused.empty()) continue;
    if (!one.runs.empty()) {
      time += 2 * static_cast<double>(one.runs.back().took);
      continue;
    }
    const double step =
        belief.knows(i)
            ? 1e9 * static_cast<double>(one.config.batch_size * one.config.ranks) / belief.rate(i)
            : 0;
    time += 2 * std::max(static_cast<double>(length),
                         step * static_cast<double>(fewest_steps(one.config)));
  }
  return static_cast<Nanos>(time);
}

}  // namespace

Guesser fit_guesser(const RunRecord& record) {
  const auto model = std::make_shared<FittedModel>(record);
  return [model](const Changes& changes) {
    const Prediction prediction = model->predict(changes, kSamplesOfPrediction);
    const Account& account = prediction.account;
    const bool has_busy = prediction.has_busy() && account.window > 0;
    return Guess{
        prediction.samples_per_s,
        has_busy ? static_cast<double>(account.compute) / static_cast<double>(account.window) : 0};
  };
}

void explain(Tune& tune, const Belief& belief, const std::map<std::size_t, Guesser>& guessers,
             const std::map<std::size_t, RunRecord>& records, Nanos length) {
  explain_error(tune, belief);
  tune.grid_time = time_of_grid(tune, belief, length);
  if (!tune.recommended) return;
  const auto record = records.find(*tune.recommended);
  if (record != records.end()) explain_limit(tune, record->second);
  explain_shifts(tune, belief, guessers);
}

}  // namespace loaderscope
