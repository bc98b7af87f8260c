#include "experiment/tuner_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/contention.h"
#include "analysis/statistics.h"
#include "loaderscope/errors.h"
#include "loaderscope/predict.h"
#include "predict/fitted_model.h"
#include "record/environment_changes.h"

namespace loaderscope {
namespace {

constexpr double kShifts[] = {0.9, 1.1};  // factors on the time of a step

void explain_error(Tune& tune, const CaseEstimator& belief) {
  const std::vector<double> errors = prediction_errors(tune, belief.judgement());
  if (errors.empty()) return;
  tune.error_median = find_median(errors);
  tune.error_worst = *std::max_element(errors.begin(), errors.end());
}

bool is_of_axes(const Axes& axes, const Changes& changes) {
  return std::all_of(changes.begin(), changes.end(), [&](const Change& change) {
    return std::any_of(axes.begin(), axes.end(),
                       [&](const Axis& axis) { return axis.key == change.key; });
  });
}

void explain_limit(Tune& tune, const RunRecord& record) {
  Analysis analysis = analyse(record);
  tune.limit = analysis.verdict.bound_by.value_or("");
  tune.limit_sentence = analysis.verdict.sentence;
  add_findings(analysis, record);
  if (analysis.fit && !analysis.fit->can_predict()) return;
  for (const Finding& finding : analysis.findings) {
    if (!finding.is_worth_doing() || !finding.has_setting() || !finding.has_figures()) continue;
    if (is_of_axes(tune.experiment.axes, finding.to_run)) continue;  // tried, or past their ends
    tune.next_step = finding.to_run;
    tune.after_next_step = Forecast{finding.rate_after, finding.busy_after};
    return;
  }
}

Changes with_others(Changes changes, const Changes& others) {
  for (const Change& other : others) {
    std::erase_if(changes, [&](const Change& change) { return change.key == other.key; });
    changes.push_back(other);
  }
  return changes;
}

// Returns the cheapest case that reaches the goal with `changes`, in the model. Considers only
// cases in the stratum of the recommended one.
std::optional<std::pair<std::size_t, Forecast>> cheapest_with(const Tune& tune,
                                                              const CaseEstimator& belief,
                                                              const Forecaster& forecast,
                                                              const Changes& changes) {
  const std::size_t stratum = tune.candidates[*tune.recommended].stratum;
  std::vector<std::pair<std::size_t, Forecast>> forecasts;
  double best = 0;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    if (tune.candidates[i].stratum != stratum || !tune.candidates[i].predicted) continue;
    forecasts.emplace_back(
        i, forecast(with_others(predictable(tune.experiment.cases[i].changes), changes)));
    best = std::max(best, forecasts.back().second.samples_per_s);
  }
  std::optional<std::pair<std::size_t, Forecast>> cheapest;
  for (const auto& [i, said] : forecasts) {
    const bool reaches = tune.goal.busy ? said.busy >= *tune.goal.busy
                                        : said.samples_per_s >= tune.goal.share() * best;
    if (reaches && (!cheapest || belief.is_cheaper(i, cheapest->first)))
      cheapest = std::pair(i, said);
  }
  return cheapest;
}

void explain_shifts(Tune& tune, const CaseEstimator& belief, const Forecasters& forecasters) {
  const auto forecast = forecasters.find(tune.candidates[*tune.recommended].stratum);
  if (!tune.experiment.base.trainer.compute.given || forecast == forecasters.end() ||
      !forecast->second)
    return;
  if (!tune.candidates[*tune.recommended].predicted) return;
  try {
    for (const double factor : kShifts) {
      const auto cheapest = cheapest_with(tune, belief, forecast->second,
                                          {{"compute.speed", fmt::format("{:.6g}", 1 / factor)}});
      tune.shifts.push_back({factor, cheapest ? std::optional(cheapest->first) : std::nullopt});
    }
  } catch (const UsageError&) {
    tune.shifts.clear();  // this compute cannot be scaled
  } catch (const RunError&) {
    tune.shifts.clear();
  }
}

// If other programs took a large part of the cores, the measured answer holds only for that load.
void explain_alone(Tune& tune, const CaseEstimator& belief, const Forecasters& forecasters) {
  double others = 0, window = 0;
  for (const Case& one : tune.experiment.cases) {
    for (const CaseRun& run : one.runs) {
      others += run.other_cpu_s;
      window += seconds(run.account.window);
    }
  }
  const double cores = tune.experiment.cases[*tune.recommended].config.declared.cores;
  if (window <= 0 || others < kMuchOfOthers * cores * window) return;
  tune.alone = AloneAnswer{others / window, std::nullopt, 0};
  const auto forecast = forecasters.find(tune.candidates[*tune.recommended].stratum);
  if (forecast == forecasters.end() || !forecast->second) return;
  try {
    const auto cheapest =
        cheapest_with(tune, belief, forecast->second, {{std::string(kOtherThreads), "0"}});
    if (!cheapest) return;
    tune.alone->cheapest = cheapest->first;
    tune.alone->samples_per_s = cheapest->second.samples_per_s;
  } catch (const UsageError&) {
  } catch (const RunError&) {
  }
}

}  // namespace

// The number that `run` and `what-if` say of the same change of this run. What they do not say is a
// RunError.
Forecaster fit_forecaster(const RunRecord& record) {
  const auto model = std::make_shared<FittedModel>(record);
  const auto measured = std::make_shared<const Analysis>(analyse(record));
  return [model, measured](const Changes& changes) {
    const Prediction prediction = model->predict(changes);
    if (!prediction.is_known()) throw RunError("the rate depends on what this run did not measure");
    const ScaledPrediction promise = scale_prediction(*measured, prediction);
    return Forecast{promise.rate_after, promise.busy_after};
  };
}

void explain(Tune& tune, const CaseEstimator& belief, const Forecasters& forecasters,
             const std::map<std::size_t, RunRecord>& records) {
  explain_error(tune, belief);
  if (!tune.recommended) return;
  const auto record = records.find(*tune.recommended);
  if (record != records.end()) explain_limit(tune, record->second);
  explain_shifts(tune, belief, forecasters);
  explain_alone(tune, belief, forecasters);
}

}  // namespace loaderscope
