// A recorded run, run again in virtual time with other settings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/wording.h"
#include "engine/model/fit.h"
#include "engine/model/mean_costs.h"
#include "engine/model/model_engine.h"
#include "engine/model/way_to_measure.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "loaderscope/what_if.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kFewestModelSteps = 60;
constexpr std::int64_t kFewestLargeSteps =
    20;                              // where 60 would be many times the samples asked for
constexpr std::int64_t kExcess = 3;  // times, that is not many
constexpr std::int64_t kFewestBursts = 4;
constexpr std::int64_t kLargestStep = 1'000'000;  // samples of all ranks
constexpr std::int64_t kSamplesOfFit = 20'000;

// What a record of real data says nothing of: other data, or other work on a sample.
constexpr std::array<std::string_view, 12> kUnknownOfData = {
    "source",   "data",   "index",   "access",    "cache",     "size",
    "transfer", "layout", "augment", "antialias", "dct-scale", "fast-upsampling"};

// What no model can change.
constexpr std::array<std::string_view, 6> kNoModel = {"engine",  "device",   "json",
                                                      "require", "on-error", "prove"};

template <std::size_t N>
bool names(const std::array<std::string_view, N>& keys, const Field& field) {
  return std::find(keys.begin(), keys.end(), field.name) != keys.end();
}

bool changes_field(const Changes& changes, std::string_view name) {
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    const Field* field = find_field(change.key);
    return field != nullptr && field->name == name;
  });
}

// A count of a result's settings, which need not be sane.
std::int64_t sane(std::int64_t count) {
  return std::clamp<std::int64_t>(count, 0, std::int64_t{1} << 24);
}

std::int64_t window_of(const RunConfig& config) {
  if (config.task == TaskShape::sample && config.num_workers > 0) return sane(config.window);
  return sane(config.prefetch_factor) * sane(config.num_workers);
}

std::int64_t batches_per_epoch(const RunConfig& config) {
  const std::int64_t batch = config.batch_size * config.ranks;
  return config.samples / batch + (config.samples % batch != 0 ? 1 : 0);
}

// Injections of the run are in what was measured.
void drop_measured_injections(RunConfig& config, const RunConfig& measured,
                              const FittedCosts& costs) {
  std::erase_if(config.inject.value, [&](const Injection& injection) {
    const auto& known = measured.inject.value;
    return costs.knows(injection.stage) &&
           std::any_of(known.begin(), known.end(),
                       [&](const Injection& k) { return k.text == injection.text; });
  });
}

void note_extrapolation(const RunConfig& base, const FittedCosts& costs, Prediction& prediction) {
  const RunConfig& config = prediction.config;
  const auto unmeasured = [&](Stage stage, const std::string& words) {
    if (costs.knows(stage) || config.cost_of(stage) != nullptr) return;
    prediction.notes.push_back(
        fmt::format("{} was not measured and is taken to cost nothing; "
                    "declare it with --set cost={}=5ms",
                    words, name_of(stage)));
  };
  if (config.memory != base.memory && config.memory == MemoryMode::pin_thread) {
    unmeasured(Stage::pin, "copying into page-locked memory");
  }
  if (config.memory != base.memory && base.memory == MemoryMode::pinned_slots) {
    unmeasured(Stage::collate, "collating");
  }
  if (config.executor != base.executor && config.executor == Executor::processes) {
    unmeasured(Stage::transport, "moving batches between processes");
  }
  if (config.memory != base.memory && costs.knows(Stage::h2d)) {
    prediction.notes.push_back("copies to the device keep the time measured with --memory " +
                               std::string(name_of(base.memory.value)));
  }
  const auto threads = [](const RunConfig& c) { return c.num_workers * c.ranks; };
  if (threads(config) > 4 * std::max<std::int64_t>(threads(base), 1)) {
    prediction.notes.push_back(fmt::format(
        "extrapolated from {} to {} workers: caches and memory are taken to keep their speed",
        threads(base), threads(config)));
  }
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
  return {std::clamp(in_force.cores.value, 1e-3, 65536.0)};
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
  config.command = {};
  config.loader = config.train_step = {};
  // They are in what was measured; the model has no name for this one.
  std::erase_if(config.inject.value,
                [](const Injection& injection) { return injection.stage == Stage::opaque; });
  config.data = {};
  config.size = RunConfig().size;
  config.pin_memory = {};  // what came of it is the memory that was seen
  std::vector<std::string_view> observed = {"num-workers", "batch-size",   "memory",
                                            "in-order",    "stored-bytes", "delivered-bytes"};
  if (config.num_workers > 0) observed.push_back("prefetch-factor");
  if (config.samples > 0) observed.push_back("samples");
  if (config.shuffle) observed.push_back("shuffle");
  if (config.drop_last && config.samples > 0) observed.push_back("drop-last");
  if (config.persistent_workers) observed.push_back("persistent-workers");
  if (config.ranks > 1) observed.push_back("ranks");
  if (config.compute.value.mean > 0) observed.push_back("compute");
  for (const std::string_view name : observed) find_field(name)->mark_given(config, true);
  return config;
}

bool is_of_somebody_else(const RunRecord& record) { return is_guest_engine(record.engine); }

}  // namespace

FittedModel::FittedModel(const RunRecord& record, const std::atomic<int>* stop_signal)
    : stop_signal_(stop_signal),
      config_(is_of_somebody_else(record) ? as_our_loader(record.config) : record.config),
      limits_(limits_of(record.config)) {
  if (record.ranks.empty() || record.ranks.front().steps() <= 0) {
    throw RunError("the result has no measured step, so nothing can be predicted from it");
  }
  if (record.config.executor == Executor::opaque) {
    throw RunError("what is inside the loader is not seen, so nothing can be predicted of it; " +
                   model::way_to_measure(record.config));
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
  if (record.engine == "model") return;
  Prediction base;
  base.config = model_config({}, *costs, base);
  set_window(base.config, {}, kSamplesOfFit);
  const auto run_with = [&](const FittedCosts& tried) { return simulate(base.config, tried); };
  model::fit_other_threads(*costs, record, run_with, notes_);
}

FittedModel::FittedModel(const RunConfig& given, const MachineLimits& limits)
    : config_(resolve(given, limits, notes_)),
      limits_(limits),
      costs_(std::make_shared<FittedCosts>()) {
  if (config_.source.value == "synthetic") return;
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
    if (names(kNoModel, *field))
      throw UsageError(place + "a what-if keeps " + std::string(field->name) + " as it is");
    if (costs_->has_samples() && names(kUnknownOfData, *field)) {
      throw UsageError(place +
                       "the result does not say what this would cost; measure it with "
                       "'loaderscope run'");
    }
  }
}

RunConfig FittedModel::model_config(const Changes& changes, FittedCosts& costs,
                                    Prediction& prediction) const {
  RunConfig config = counterfactual(config_, changes);
  for (const Change& change : changes) {
    const std::optional<Speedup> speedup = speedup_of(change);
    if (const auto others = other_threads_of(change)) costs.other_threads = *others;
    if (!speedup) continue;
    if (costs.knows(speedup->stage)) {
      costs.speed[speedup->stage] = speedup->factor;
    } else if (!make_faster(config, *speedup)) {
      prediction.notes.push_back(change.key + " has no effect: the stage costs nothing here");
    }
  }
  if (config.device.value != "null") config.device.value = "sim";
  config.engine.value = costs.has_samples() ? "native" : "model";
  if (costs.has_samples()) config.source.set(config_.source);
  config = resolve(config, limits_, prediction.notes);
  config.engine.value = "model";
  if (costs.has_samples()) {
    if (!changes_field(changes, "samples")) config.samples.value = config_.samples;
    drop_measured_injections(config, config_, costs);
    if (changes_field(changes, "compute"))
      for (FittedCosts::Rank& rank : costs.ranks) rank.stages[Stage::compute] = {};
  }
  return config;
}

// As many steps as the run had, in samples, behind as long a warm-up.
void FittedModel::set_window(RunConfig& config, const Changes& changes,
                             std::int64_t most_samples) const {
  const std::int64_t per_step = config.batch_size * config.ranks;
  const std::int64_t fewest =
      std::clamp(kExcess * most_samples / per_step, kFewestLargeSteps, kFewestModelSteps);
  const std::int64_t most = std::max(fewest, most_samples / per_step);
  if (steps_ == 0 || changes_field(changes, "steps") || changes_field(changes, "duration")) return;
  if (per_step > kLargestStep) {
    throw RunError(
        fmt::format("a step of {} samples is too large for a prediction; give smaller "
                    "batches or fewer ranks",
                    per_step));
  }
  std::int64_t steps =
      std::max<std::int64_t>(1, steps_ * sane(config_.batch_size) / config.batch_size);
  if (steps > most) {
    const std::int64_t epoch = config.samples > 0 ? batches_per_epoch(config) : 1;
    steps = std::min(steps, (most + epoch - 1) / epoch * epoch);
  }
  // Workers deliver in bursts of their number: of whole bursts, and of more than a few.
  if (config.num_workers != config_.num_workers && config.num_workers > 0) {
    const std::int64_t burst = config.num_workers;
    steps = (std::max(steps, kFewestBursts * burst) + burst - 1) / burst * burst;
  }
  config.steps.set(steps);
  config.duration.given = false;
  if (changes_field(changes, "warmup")) return;
  const std::int64_t deeper = std::max<std::int64_t>(0, window_of(config) - window_of(config_));
  config.warmup.value = {std::min(warmup_ + deeper, 2 * most), 0};
}

void FittedModel::set_steps(RunConfig& config, std::int64_t steps) const {
  config.steps.set(steps);
  config.duration.given = false;
  config.warmup.value = {warmup_ + window_of(config), 0};
}

Prediction FittedModel::run(Prediction prediction, const FittedCosts& costs,
                            const Knockouts& knockouts) const {
  if (costs.has_samples()) note_extrapolation(config_, costs, prediction);
  add_result(prediction, simulate(prediction.config, costs, knockouts));
  return prediction;
}

Prediction FittedModel::predict(const Changes& changes, std::int64_t most_samples,
                                const Knockouts& knockouts) const {
  refuse_unknown(changes);
  Prediction prediction;
  FittedCosts costs = *costs_;
  prediction.config = model_config(changes, costs, prediction);
  set_window(prediction.config, changes, most_samples);
  return run(std::move(prediction), costs, knockouts);
}

Prediction FittedModel::predict_at_means(std::int64_t most_samples) const {
  Prediction prediction;
  FittedCosts costs = costs_->at_means();
  prediction.config = model::with_mean_costs(model_config({}, costs, prediction));
  set_window(prediction.config, {}, most_samples);
  return run(std::move(prediction), costs);
}

Prediction FittedModel::predict_steps(const Changes& changes, std::int64_t steps,
                                      const Knockouts& knockouts) const {
  refuse_unknown(changes);
  Prediction prediction;
  FittedCosts costs = *costs_;
  prediction.config = model_config(changes, costs, prediction);
  set_steps(prediction.config, steps);
  return run(std::move(prediction), costs, knockouts);
}

Prediction FittedModel::predict_under_load_of(const RunRecord& measured,
                                              const Changes& changes) const {
  refuse_unknown(changes);
  Prediction prediction;
  FittedCosts costs = *costs_;
  costs.other_threads = 0;
  prediction.config = model_config(changes, costs, prediction);
  set_window(prediction.config, changes, kSamplesOfFit);
  const auto run_with = [&](const FittedCosts& tried) {
    return simulate(prediction.config, tried);
  };
  model::fit_other_threads(costs, measured, run_with, prediction.notes);
  add_result(prediction, run_with(costs));
  return prediction;
}

RunConfig FittedModel::to_run(const Changes& changes) const {
  refuse_unknown(changes);
  for (const Change& change : changes) {
    if (change.key == kOtherThreads)
      throw UsageError("--verify: other-threads cannot be set here; end the other programs first");
    const std::optional<Speedup> speedup = speedup_of(change);
    RunConfig declared = config_;
    if (!speedup || (!costs_->knows(speedup->stage) && make_faster(declared, *speedup))) continue;
    throw UsageError("--verify: " + change.key +
                     " cannot be run, the stage works for real; leave out one of them");
  }
  return run_again(measured_ ? *measured_ : config_, changes);
}

RunConfig given_again(const RunConfig& in_force, const Changes& changes) {
  RunConfig config = counterfactual(in_force, changes);
  for (const Change& change : changes) {
    if (const std::optional<Speedup> speedup = speedup_of(change)) make_faster(config, *speedup);
  }
  if (!is_guest_engine(in_force.engine.value)) {
    if (in_force.source.value != "synthetic") config.source.set(in_force.source);
    config.device.set(in_force.device);
  }
  return config;
}

RunConfig run_again(const RunConfig& in_force, const Changes& changes) {
  std::vector<std::string> notes;
  return resolve(given_again(in_force, changes), limits_of(in_force), notes);
}

std::string GoodnessOfFit::sentence() const {
  return fmt::format("the model gives the base case's rate {:+.1f} %, {} {:+.1f} points",
                     100 * rate_error, worst_part, 100 * worst_share);
}

GoodnessOfFit goodness_of_fit(const Analysis& measured, const Prediction& fitted) {
  GoodnessOfFit fit;
  if (measured.samples_per_s.mean > 0) {
    fit.rate_error = fitted.samples_per_s / measured.samples_per_s.mean - 1;
  }
  const auto share = [](Nanos part, const Account& account) {
    return account.window > 0 ? static_cast<double>(part) / static_cast<double>(account.window) : 0;
  };
  const auto consider = [&](std::string_view name, Nanos predicted, Nanos recorded) {
    const double difference = share(predicted, fitted.account) - share(recorded, measured.account);
    if (!fit.worst_part.empty() && std::abs(difference) <= std::abs(fit.worst_share)) return;
    fit.worst_part = name;
    fit.worst_share = difference;
  };
  consider("compute", fitted.account.compute, measured.account.compute);
  for (const auto& word : Words<Cause>::table()) {
    consider(word.name, fitted.account.stall[word.value], measured.account.stall[word.value]);
  }
  return fit;
}

}  // namespace loaderscope
