// Predictions of a run: the model, run over the compared steps.
#include <algorithm>
#include <cmath>
#include <utility>

#include "loaderscope/run_config.h"
#include "predict/fit.h"
#include "predict/fitted_model.h"
#include "predict/prediction_limits.h"
#include "predict/prediction_window.h"
#include "predict/storage_fit.h"
#include "record/config_facts.h"
#include "record/environment_changes.h"

namespace loaderscope {
namespace {

void take_mean(Distribution& distribution) {
  distribution.shape = Distribution::Shape::constant;
  distribution.spread = 0;
}

// Keeps the total delay, and spreads it over all executions.
void spread_evenly(Injection& injection) {
  injection.extra = std::llround(static_cast<double>(injection.extra) * injection.probability /
                                 static_cast<double>(injection.every));
  injection.probability = 1;
  injection.every = 1;
}

// Returns the settings with stored sizes, costs, injections and compute at their means.
RunConfig with_mean_costs(RunConfig config) {
  take_mean(config.data.stored_bytes.value);
  take_mean(config.trainer.compute.value);
  for (Cost& cost : config.declared.cost.value) take_mean(cost.amount);
  for (Injection& injection : config.declared.inject.value) spread_evenly(injection);
  return config;
}

bool comes_late(const StepRow& row) {
  return row.deliverable > std::max(row.idle_begin, row.ask) && row.why[Why::epoch] == 0;
}

double ready_share(const RunRecord& record) {
  std::int64_t steps = 0, late = 0;
  for (const RankRecord& rank : record.ranks) {
    steps += rank.steps();
    rank.rows.for_each([&](const StepRow& row) { late += comes_late(row) ? 1 : 0; },
                       rank.warmup_steps);
  }
  return steps > 0 ? 1 - static_cast<double>(late) / static_cast<double>(steps) : 1;
}

void add_result(Prediction& prediction, const RunRecord& record) {
  std::vector<Account> accounts;
  prediction.ready = ready_share(record);
  for (const RankRecord& rank : record.ranks) {
    accounts.push_back(rank_account(rank));
    if (rank.steps() <= 0 || rank.window() <= 0) continue;
    prediction.samples_per_s += static_cast<double>(rank.samples) / seconds(rank.window());
  }
  prediction.account = mean_account(accounts);
  for (const auto& [name, ns] : record.before_first_ask) prediction.loading += ns;
  prediction.held_bytes =
      std::llround(value_of(record.metrics, metric::memory_gpu_data_bytes).value_or(0));
}

}  // namespace

// Window settings that the changes name are kept, and apply to the base too.
void FittedModel::set_windows(RunConfig& base, RunConfig& changed, const Changes& changes,
                              std::int64_t most_samples) const {
  model::refuse_large_steps(changed);
  const RunConfig named = changed;
  const auto names_any = [&](auto... keys) { return (change_setting(changes, keys) || ...); };
  if (steps_ > 0 && !names_any("steps", "duration")) {
    auto sides = model::match_windows({warmup_, steps_}, base, changed, most_samples);
    sides = model::with_starts_of_epochs(sides, base, changed, most_samples);
    model::set_window(base, sides.base);
    model::set_window(changed, sides.changed);
    // Whole epochs may end after those of the run.
    changed.measure.epochs.value = base.measure.epochs.value =
        names_any("epochs") ? named.measure.epochs.value : 0;
    if (names_any("warmup")) changed.measure.warmup = base.measure.warmup = named.measure.warmup;
    return;
  }
  base.measure.steps = named.measure.steps;
  base.measure.duration = named.measure.duration;
  base.measure.warmup = named.measure.warmup;
  base.measure.epochs = named.measure.epochs;
}

Prediction FittedModel::run(Prediction prediction, const FittedCosts& costs,
                            const Knockouts& knockouts) const {
  note_extrapolation(prediction, costs);
  add_result(prediction, simulate(prediction.config, costs, knockouts, true));
  model::note_storage_beyond_seen(costs, prediction);
  return prediction;
}

// The run itself over the steps of `config`.
Prediction FittedModel::base_over(const RunConfig& config) const {
  return base_runs_->over(config, [&] {
    Prediction base;
    base.config = config;
    return run(std::move(base), *costs_);
  });
}

// Sets what `prediction` is compared with, and returns it.
Prediction FittedModel::set_base(Prediction& prediction, const RunConfig& base) const {
  Prediction unchanged = base_over(base);
  prediction.base_measure = base.measure;
  prediction.base_samples_per_s = unchanged.samples_per_s;
  prediction.base_busy = unchanged.busy();
  prediction.base_account = unchanged.account;
  return unchanged;
}

Prediction FittedModel::fitted(std::int64_t most_samples) const {
  RunConfig config = base_config();
  model::refuse_large_steps(config);
  if (steps_ > 0)
    model::set_window(config, model::steps_of_run({warmup_, steps_}, config, most_samples));
  return base_over(config);
}

Prediction FittedModel::predict(const Changes& changes, std::int64_t most_samples,
                                const Knockouts& knockouts) const {
  auto [costs, changed] = make_case(changes);
  RunConfig base = base_config();
  set_windows(base, changed.config, changes, most_samples);
  Prediction prediction = run(std::move(changed), costs, knockouts);
  const Prediction unchanged = set_base(prediction, base);
  add_spread_of_costs(changes, knockouts, prediction);
  model::note_launching(costs, unchanged, prediction);
  if (costs.compute_threads > 0) model::note_shared_cores(costs, unchanged, prediction);
  return prediction;
}

Prediction FittedModel::predict_like_others(const std::vector<std::size_t>& ranks,
                                            std::int64_t most_samples) const {
  const auto is_one = [&](std::size_t rank) {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  };
  FittedCosts costs = *costs_;
  std::size_t other = 0;
  while (other < costs.ranks.size() && is_one(other)) ++other;
  for (const std::size_t rank : ranks) {
    if (other < costs.ranks.size() && rank < costs.ranks.size())
      costs.ranks[rank] = costs.ranks[other];
  }
  auto [of_others, prediction] = make_case({}, std::move(costs));
  std::erase_if(prediction.config.declared.inject.value, [&](const Injection& injection) {
    return injection.rank && is_one(static_cast<std::size_t>(*injection.rank));
  });
  RunConfig base = base_config();
  set_windows(base, prediction.config, {}, most_samples);
  prediction = run(std::move(prediction), of_others);
  set_base(prediction, base);
  return std::move(prediction);
}

// Costs of first workers are between the least and the most that other programs had. A GPU that
// makes batches takes between the least and the most from the training.
void FittedModel::add_spread_of_costs(const Changes& changes, const Knockouts& knockouts,
                                      Prediction& usual) const {
  const bool has_first_workers = config_.loader.num_workers == 0 &&
                                 usual.config.loader.num_workers > 0 && measured_ &&
                                 !costs_->knows(Stage::transport_recv);
  if (!has_first_workers && !gpu_costs(changes, usual_stream(), Amount::usual).is_uncertain) return;
  for (const Amount amount : {Amount::least, Amount::most}) {
    auto [costs, other] = make_case(changes, *costs_, amount);
    other.config.measure = usual.config.measure;
    add_result(other, simulate(other.config, costs, knockouts, true));
    const double off = std::abs(other.samples_per_s / usual.samples_per_s - 1);
    usual.may_be_off = std::max(usual.may_be_off, off);
  }
}

Prediction FittedModel::predict_at_means(std::int64_t most_samples) const {
  auto [costs, prediction] = make_case({}, costs_->at_means());
  RunConfig base = base_config();
  prediction.config = with_mean_costs(prediction.config);
  set_windows(base, prediction.config, {}, most_samples);
  return run(std::move(prediction), costs);
}

Prediction FittedModel::predict_steps(const Changes& changes, std::int64_t steps,
                                      const Knockouts& knockouts) const {
  auto [costs, prediction] = make_case(changes);
  set_window_after_warmup(prediction.config, steps);
  return run(std::move(prediction), costs, knockouts);
}

Prediction FittedModel::predict_under_load(const RunRecord& measured,
                                           const Changes& changes) const {
  FittedCosts unloaded = *costs_;
  unloaded.other_threads = 0;
  Case changed = make_case(changes, std::move(unloaded));
  Prediction& prediction = changed.prediction;
  RunConfig base = base_config();
  set_windows(base, prediction.config, changes, model::kSamplesOfFit);
  const auto run_with = [&](const FittedCosts& tried) {
    return simulate(prediction.config, tried);
  };
  model::fit_other_threads(changed.costs, measured, run_with, prediction.notes);
  add_result(prediction, run_with(changed.costs));
  return std::move(prediction);
}

void FittedModel::note_extrapolation(Prediction& prediction, const FittedCosts& costs) const {
  if (costs.has_samples())
    model::note_extrapolation(config_, costs, measured_.has_value(), prediction);
}

std::vector<std::string> FittedModel::extrapolations(const Changes& changes) const {
  auto [costs, prediction] = make_case(changes);
  note_extrapolation(prediction, costs);
  return prediction.notes;
}

void FittedModel::set_window_after_warmup(RunConfig& config, std::int64_t steps) const {
  model::set_window(config, {warmup_ + batches_ahead(config), steps});
}

}  // namespace loaderscope
