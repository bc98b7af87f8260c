// A recorded run, run again in virtual time with other settings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <future>
#include <map>
#include <mutex>

#include "analysis/fit/extrapolation.h"
#include "analysis/fit/fit.h"
#include "analysis/fit/fitted_model.h"
#include "analysis/fit/mean_costs.h"
#include "analysis/fit/prediction_window.h"
#include "analysis/fit/storage_fit.h"
#include "analysis/fit/way_to_measure.h"
#include "analysis/wording.h"
#include "engine/model/model_engine.h"
#include "loaderscope/device.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "settings/batches_ahead.h"
#include "settings/engine_table.h"
#include "settings/world_changes.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kLargestStep = 1'000'000;  // samples of all ranks
constexpr std::int64_t kMostRanksOfHosts = 64;
constexpr std::int64_t kSamplesOfFit = 20'000;
constexpr double kNoticeablyAlone = 0.98;

// What a record of real data says nothing of: other data, or other work on a sample.
constexpr std::uint32_t kUnknownOfData = about::kWhichData | about::kStored | about::kImage;

bool changes_field(const Changes& changes, std::string_view name) {
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    const Field* field = find_field(change.key);
    return field != nullptr && field->name == name;
  });
}

// Injections of the run are in what was measured.
void drop_measured_injections(RunConfig& config, const RunConfig& measured,
                              const FittedCosts& costs) {
  std::erase_if(config.declared.inject.value, [&](const Injection& injection) {
    const auto& known = measured.declared.inject.value;
    return costs.knows(injection.stage) &&
           std::any_of(known.begin(), known.end(),
                       [&](const Injection& k) { return k.text == injection.text; });
  });
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

MachineLimits limits_of(const RunConfig& in_force) {
  return {std::clamp(in_force.declared.cores.value, 1e-3, 65536.0)};
}

void refuse_large_steps(const RunConfig& config) {
  const std::int64_t per_step = config.loader.batch_size * config.trainer.ranks;
  if (per_step <= kLargestStep) return;
  throw RunError(
      fmt::format("a step of {} samples is too large for a prediction; give smaller batches or "
                  "fewer ranks",
                  per_step));
}

RunError interrupted_prediction() {
  return RunError(
      "the prediction was interrupted; a saved result gives it with 'loaderscope report'");
}

void add_result(Prediction& prediction, const RunRecord& record) {
  std::vector<Account> accounts;
  prediction.ready = ready_share(record);
  for (const RankRecord& rank : record.ranks) {
    accounts.push_back(account_of(rank));
    if (rank.steps() <= 0 || rank.window() <= 0) continue;
    prediction.samples_per_s += static_cast<double>(rank.samples) / seconds(rank.window());
  }
  prediction.account = mean_account(accounts);
}

// What was seen of somebody else's loader, as the settings of one of ours.
RunConfig as_our_loader(const RunConfig& seen) {
  RunConfig config = seen;
  config.program.command = {};
  config.program.loader = config.program.train_step = {};
  // They are in what was measured; the model has no name for this one.
  std::erase_if(config.declared.inject.value,
                [](const Injection& injection) { return injection.stage == Stage::opaque; });
  config.data.paths = {};
  config.image.size = RunConfig().image.size;
  config.loader.pin_memory = {};  // what came of it is the memory that was seen
  std::vector<std::string_view> observed = {"num-workers", "batch-size",   "memory",
                                            "in-order",    "stored-bytes", "delivered-bytes"};
  if (config.loader.num_workers > 0) observed.push_back("prefetch-factor");
  if (config.data.samples > 0) observed.push_back("samples");
  if (config.loader.shuffle) observed.push_back("shuffle");
  if (config.loader.drop_last && config.data.samples > 0) observed.push_back("drop-last");
  if (config.loader.persistent_workers) observed.push_back("persistent-workers");
  if (config.trainer.ranks > 1) observed.push_back("ranks");
  if (config.trainer.compute.value.mean > 0) observed.push_back("compute");
  // A program whose own thread computes does nothing else meanwhile: neither does it take a batch.
  if (device_kind(seen.trainer.device.value) == DeviceKind::program) {
    config.trainer.in_flight.value = 1;
    observed.push_back("in-flight");
  }
  for (const std::string_view name : observed) find_field(name)->mark_given(config, true);
  return config;
}

// A stream's epoch ends worker by worker, each with a batch of its own that may be short.
bool saw_streams_end(const RunRecord& record) {
  if (is_guest_engine(record.engine) || !value_of(record.metrics, "data.shards")) return false;
  bool ended = value_of(record.metrics, "data.epoch_samples").has_value();
  for (const RankRecord& rank : record.ranks)
    rank.rows.for_each([&](const StepRow& row) { ended = ended || row.epoch > 0; });
  return ended;
}

void change_world_of(const Change& change, const WorldChange& world, RunConfig& config,
                     FittedCosts& costs, std::vector<std::string>& notes) {
  const std::string place = "--set " + shown_text(change.key + "=" + change.value) + ": ";
  if (world.word == WorldWord::other_threads) {
    costs.other_threads = world.value;
  } else if (costs.has_samples()) {
    model::change_storage(costs, world, place, notes);
  } else if (!change_world(config, world)) {
    throw UsageError(place +
                     "the run declares nothing of it; of what is declared storage-latency, "
                     "storage-bandwidth and queue-depth can be changed");
  }
}

void refuse_trace(std::string_view engine) {
  if (!is_trace_engine(engine)) return;
  throw RunError(
      "the result is of a trace, which tells what was waited for and neither what a batch costs "
      "nor what program it was: nothing can be predicted from it or run again; measure the "
      "program itself with 'loaderscope run --json run.json -- python train.py'");
}

void refuse_large_jobs(const RunRecord& record) {
  if (record.hosts.size() < 2 || std::ssize(record.ranks) <= kMostRanksOfHosts) return;
  throw RunError(
      fmt::format("{} ranks on {} hosts are more than the {} of which all are run in the model; "
                  "give the result of one host, to 'loaderscope plan' for the job",
                  record.ranks.size(), record.hosts.size(), kMostRanksOfHosts));
}

bool is_of_somebody_else(const RunRecord& record) { return is_guest_engine(record.engine); }

}  // namespace

// The run itself, over other steps: changes of the same window share one.
struct FittedModel::BaseRuns {
  using Key = std::array<std::int64_t, 5>;  // steps, duration, warm-up in steps and ns, epochs

  std::mutex mutex;
  std::map<Key, std::shared_future<Prediction>> runs;
};

FittedModel::FittedModel(const RunRecord& record, const std::atomic<int>* stop_signal)
    : base_runs_(std::make_shared<BaseRuns>()),
      stop_signal_(stop_signal),
      config_(is_of_somebody_else(record) ? as_our_loader(record.config) : record.config),
      limits_(limits_of(record.config)) {
  if (record.ranks.empty() || record.ranks.front().steps() <= 0) {
    throw RunError("the result has no measured step, so nothing can be predicted from it");
  }
  refuse_trace(record.engine);
  refuse_large_jobs(record);
  if (record.config.loader.executor == Executor::opaque) {
    throw RunError("what is inside the loader is not seen, so nothing can be predicted of it; " +
                   model::way_to_measure(record.config));
  }
  if (saw_streams_end(record)) {
    throw RunError(
        "streams ended within the run, each with its worker, which the model does not know, so "
        "nothing is predicted; measure within one epoch, with fewer --steps");
  }
  if (is_of_somebody_else(record)) measured_ = record.config;
  steps_ = record.ranks.front().steps();
  warmup_ = record.ranks.front().warmup_steps;
  for (const RankRecord& rank : record.ranks) {
    steps_ = std::min(steps_, rank.steps());
    warmup_ = std::max(warmup_, rank.warmup_steps);
  }
  auto costs = std::make_shared<FittedCosts>(model::fit_costs(record, notes_));
  costs_ = costs;
  if (is_model_engine(record.engine)) return;
  RunConfig base = base_config();
  refuse_large_steps(base);
  set_window(base, model::steps_of_run({warmup_, steps_}, base, kSamplesOfFit));
  const auto run_with = [&](const FittedCosts& tried) { return simulate(base, tried); };
  model::fit_compute(*costs, record, run_with);
  model::fit_other_threads(*costs, record, run_with, notes_);
  if (costs->other_threads > 0) model::fit_compute(*costs, record, run_with);
  model::check_requests(*costs, record, run_with, notes_);
  if (costs->compute_threads > 0) {
    notes_.push_back(fmt::format(
        "training computes on the cores that the loader needs, with {:.1f} threads{}",
        costs->compute_threads,
        costs->compute_alone < kNoticeablyAlone
            ? fmt::format(", and would take {} of its time without the loader beside it",
                          show_percent(costs->compute_alone))
            : ""));
  }
}

FittedModel::FittedModel(const RunConfig& given, const MachineLimits& limits)
    : base_runs_(std::make_shared<BaseRuns>()),
      config_(resolve_to_predict(given, limits, notes_)),
      limits_(limits),
      costs_(std::make_shared<FittedCosts>()) {
  if (!config_.has_data()) return;
  throw UsageError(
      "what-if: real data must be measured first; save a result with 'run --json FILE' and give "
      "it, or declare --cost without --data");
}

RunRecord FittedModel::simulate(const RunConfig& config, const FittedCosts& costs,
                                const Knockouts& knockouts) const {
  if (stop_signal_ != nullptr && stop_signal_->load() != 0) throw interrupted_prediction();
  EngineContext context;
  context.stop_signal = stop_signal_;
  context.costs = &costs;
  context.knockouts = knockouts;
  RunRecord record = run_model(config, context);
  if (record.interrupted) throw interrupted_prediction();
  return record;
}

void FittedModel::refuse_unknown(const Changes& changes) const {
  for (const Change& change : changes) {
    const Field* field = find_field(change.key);
    if (field == nullptr) continue;  // a speed
    const std::string place = "--set " + shown_text(change.key + "=" + change.value) + ": ";
    if (field->is_about(about::kNotModelled))
      throw UsageError(place + "a what-if keeps " + std::string(field->name) + " as it is");
    if (const auto word = word_for_setting(field->name); costs_->has_samples() && !word.empty())
      throw UsageError(place + "of a run that was measured it is --set " + std::string(word) + "=" +
                       shown_text(change.value));
    if (costs_->has_samples() && field->is_about(kUnknownOfData)) {
      throw UsageError(place +
                       "the result does not say what this would cost; measure it with "
                       "'loaderscope run'");
    }
    if (!costs_->tells_samples_apart() && field->is_about(about::kWithinBatch)) {
      throw UsageError(
          place +
          "the loader makes whole batches, in which no sample was told apart: what one "
          "takes is not known" +
          (field->is_about(about::kOwnLoader) ? "" : "; measure it"));
    }
  }
}

RunConfig FittedModel::model_config(const Changes& changes, FittedCosts& costs,
                                    Prediction& prediction) const {
  RunConfig config = counterfactual(config_, changes);
  for (const Change& change : changes) {
    if (const auto world = world_change_of(change))
      change_world_of(change, *world, config, costs, prediction.notes);
    const std::optional<Speedup> speedup = speedup_of(change);
    if (!speedup) continue;
    if (costs.knows(speedup->stage)) {
      costs.speed[speedup->stage] = speedup->factor;
      if (speedup->stage == Stage::read) model::make_reads_faster(costs, speedup->factor);
    } else if (!make_faster(config, *speedup)) {
      prediction.notes.push_back(change.key + " has no effect: the stage costs nothing here");
    }
  }
  if (device_kind(config.trainer.device.value) != DeviceKind::none)
    config.trainer.device.value = "sim";
  config.engine.value = costs.has_samples() ? "native" : "model";
  if (costs.has_samples()) config.data.source.set(config_.data.source);
  config = costs.has_samples() ? resolve_measured(config, limits_, prediction.notes)
                               : resolve_to_predict(config, limits_, prediction.notes);
  config.engine.value = "model";
  if (costs.has_samples()) {
    if (!changes_field(changes, "samples")) config.data.samples.value = config_.data.samples;
    // Of arrays the data says it.
    if (!config.data.delivered_bytes.given)
      config.data.delivered_bytes.value = config_.data.delivered_bytes;
    drop_measured_injections(config, config_, costs);
    model::give_shards_to_workers(config, costs.shards, prediction.notes);
    model::queue_in_proportion(costs, *costs_, config_, config);
    if (changes_field(changes, "compute"))
      for (FittedCosts::Rank& rank : costs.ranks) rank.stages[Stage::compute] = {};
  }
  return config;
}

void FittedModel::set_window(RunConfig& config, const model::StepsToRun& steps) const {
  config.measure.steps.set(steps.measured);
  config.measure.duration.given = false;
  config.measure.warmup.value = {steps.warmup, 0};
}

// What the changes name of it stays, and is the base's too.
void FittedModel::set_windows(RunConfig& base, RunConfig& changed, const Changes& changes,
                              std::int64_t most_samples) const {
  refuse_large_steps(changed);
  const RunConfig named = changed;
  const auto names_any = [&](auto... keys) { return (changes_field(changes, keys) || ...); };
  if (steps_ > 0 && !names_any("steps", "duration")) {
    auto sides = model::side_by_side({warmup_, steps_}, base, changed, most_samples);
    sides = model::with_starts_of_epochs(sides, base, changed, most_samples);
    set_window(base, sides.base);
    set_window(changed, sides.changed);
    // Whole epochs may end behind those of the run.
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
  if (costs.has_samples())
    model::note_extrapolation(config_, costs, measured_.has_value(), prediction);
  add_result(prediction, simulate(prediction.config, costs, knockouts));
  model::note_storage_beyond_seen(costs, prediction);
  return prediction;
}

// The run itself over the steps of `config`. Of several that want the same at once one runs it.
Prediction FittedModel::base_over(const RunConfig& config) const {
  const BaseRuns::Key key = {config.measure.steps.value, config.measure.duration.value,
                             config.measure.warmup.value.steps,
                             config.measure.warmup.value.duration, config.measure.epochs.value};
  std::promise<Prediction> promise;
  std::shared_future<Prediction> result;
  bool is_mine = false;
  {
    const std::lock_guard lock(base_runs_->mutex);
    std::shared_future<Prediction>& known = base_runs_->runs[key];
    is_mine = !known.valid();
    if (is_mine) known = promise.get_future().share();
    result = known;
  }
  if (is_mine) {
    try {
      Prediction base;
      base.config = config;
      promise.set_value(run(std::move(base), *costs_));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }
  return result.get();
}

std::vector<StorageValue> FittedModel::storage_values(const Changes& changes) const {
  return model::storage_values(*costs_, config_, changes);
}

RunConfig FittedModel::base_config() const {
  Prediction unused;
  FittedCosts costs = *costs_;
  return model_config({}, costs, unused);
}

Prediction FittedModel::fitted(std::int64_t most_samples) const {
  RunConfig config = base_config();
  refuse_large_steps(config);
  if (steps_ > 0) set_window(config, model::steps_of_run({warmup_, steps_}, config, most_samples));
  return base_over(config);
}

Prediction FittedModel::predict(const Changes& changes, std::int64_t most_samples,
                                const Knockouts& knockouts) const {
  refuse_unknown(changes);
  Prediction prediction;
  FittedCosts costs = *costs_;
  prediction.config = model_config(changes, costs, prediction);
  RunConfig base = base_config();
  set_windows(base, prediction.config, changes, most_samples);
  prediction = run(std::move(prediction), costs, knockouts);
  const Prediction unchanged = base_over(base);
  prediction.base_samples_per_s = unchanged.samples_per_s;
  prediction.base_busy = unchanged.busy();
  if (costs.compute_threads > 0) model::note_shared_cores(costs, unchanged, prediction);
  return prediction;
}

Prediction FittedModel::predict_at_means(std::int64_t most_samples) const {
  Prediction prediction;
  FittedCosts costs = costs_->at_means();
  RunConfig base = base_config();
  prediction.config = model::with_mean_costs(model_config({}, costs, prediction));
  set_windows(base, prediction.config, {}, most_samples);
  return run(std::move(prediction), costs);
}

Prediction FittedModel::predict_steps(const Changes& changes, std::int64_t steps,
                                      const Knockouts& knockouts) const {
  refuse_unknown(changes);
  Prediction prediction;
  FittedCosts costs = *costs_;
  prediction.config = model_config(changes, costs, prediction);
  set_window(prediction.config, {warmup_ + batches_ahead(prediction.config), steps});
  return run(std::move(prediction), costs, knockouts);
}

Prediction FittedModel::predict_under_load_of(const RunRecord& measured,
                                              const Changes& changes) const {
  refuse_unknown(changes);
  Prediction prediction;
  FittedCosts costs = *costs_;
  costs.other_threads = 0;
  prediction.config = model_config(changes, costs, prediction);
  RunConfig base = base_config();
  set_windows(base, prediction.config, changes, kSamplesOfFit);
  const auto run_with = [&](const FittedCosts& tried) {
    return simulate(prediction.config, tried);
  };
  model::fit_other_threads(costs, measured, run_with, prediction.notes);
  add_result(prediction, run_with(costs));
  return prediction;
}

std::vector<std::string> FittedModel::extrapolations(const Changes& changes) const {
  refuse_unknown(changes);
  Prediction prediction;
  FittedCosts costs = *costs_;
  prediction.config = model_config(changes, costs, prediction);
  if (costs.has_samples())
    model::note_extrapolation(config_, costs, measured_.has_value(), prediction);
  return prediction.notes;
}

RunConfig FittedModel::to_run(const Changes& named) const {
  refuse_unknown(named);
  Changes changes;
  std::transform(named.begin(), named.end(), std::back_inserter(changes), as_setting);
  for (const Change& change : changes) {
    if (change.key == kOtherThreads)
      throw UsageError("--verify: other-threads cannot be set here; end the other programs first");
    if (const auto world = world_change_of(change); world && costs_->has_samples())
      throw UsageError("--verify: " + change.key +
                       " cannot be set here, the storage is real; run it where it is so");
    const std::optional<Speedup> speedup = speedup_of(change);
    RunConfig declared = config_;
    if (!speedup || (!costs_->knows(speedup->stage) && make_faster(declared, *speedup))) continue;
    throw UsageError("--verify: " + change.key +
                     " cannot be run, the stage works for real; leave out one of them");
  }
  return rerun_config(measured_ ? *measured_ : config_, changes);
}

RunConfig rerun_settings(const RunConfig& in_force, const Changes& changes) {
  refuse_trace(in_force.engine.value);
  RunConfig config = counterfactual(in_force, changes);
  for (const Change& change : changes) {
    if (const std::optional<Speedup> speedup = speedup_of(change)) make_faster(config, *speedup);
    if (const auto world = world_change_of(change)) change_world(config, *world);
  }
  if (!is_guest_engine(in_force.engine.value)) {
    if (in_force.has_data()) config.data.source.set(in_force.data.source);
    config.trainer.device.set(in_force.trainer.device);
  }
  return config;
}

RunConfig rerun_config(const RunConfig& in_force, const Changes& changes) {
  std::vector<std::string> notes;
  return resolve(rerun_settings(in_force, changes), limits_of(in_force), notes);
}

}  // namespace loaderscope
