// Changes of a run, as settings and costs of the model, or as settings to run again for real.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "loaderscope/device.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "predict/fitted_model.h"
#include "predict/prediction_limits.h"
#include "predict/storage_fit.h"
#include "record/environment_changes.h"
#include "record/family_traits.h"
#include "settings/engine_table.h"

namespace loaderscope {
namespace {

bool is_unknown(const FittedCosts& costs, const RunConfig& config, Stage stage) {
  return !costs.knows(stage) && config.declared_cost(stage) == nullptr;
}

// Returns whether `config` has workers, `base` has none, and their work was neither measured nor
// declared.
bool has_first_workers(const RunConfig& base, const RunConfig& config, const FittedCosts& costs) {
  return base.loader.num_workers == 0 && config.loader.num_workers > 0 &&
         (is_unknown(costs, config, Stage::transport_recv) ||
          is_unknown(costs, config, Stage::transport));
}

// Declares in `config` the unmeasured work that first workers add.
void declare_first_workers(const FittedCosts& costs, Amount amount, RunConfig& config) {
  std::vector<Cost> declared = config.declared.cost.value;
  for (const Stage stage : kStagesOfFirstWorkers) {
    if (!is_unknown(costs, config, stage)) continue;
    const double us = brought_by_first_workers(stage, costs.batch, amount) / kMicrosecond;
    declared.push_back(parse_cost(fmt::format("{}={}us:cpu", name_of(stage), us)));
  }
  config.declared.cost.set(std::move(declared));
  const double pages = brought_by_first_workers(Stage::collate, costs.batch, amount);
  if (const auto us = std::llround(pages / kMicrosecond); us > 0)
    config.declared.inject.value.push_back(
        parse_injection(fmt::format("{}=+{}us", name_of(Stage::collate), us)));
}

// Settings that a record of real data does not cover: other data, or other work on a sample.
constexpr std::uint32_t kUnknownOfData = about::kWhichData | about::kStored | about::kImage;

// Settings that say whether the CPU or the GPU works on a sample.
bool is_place_of_work(const Field& field) {
  return field.name == "decode" || field.name == "augment-on";
}

// Injections of the run are included in the measured times.
bool is_among(const std::vector<Injection>& injections, const Injection& one) {
  return std::any_of(injections.begin(), injections.end(),
                     [&](const Injection& other) { return other.text == one.text; });
}

void drop_measured_injections(RunConfig& config, const RunConfig& measured,
                              const FittedCosts& costs) {
  std::erase_if(config.declared.inject.value, [&](const Injection& injection) {
    return costs.knows(injection.stage) && is_among(measured.declared.inject, injection);
  });
}

// Notes the injections of ranks and workers that no longer exist.
void note_lost_injections(const RunConfig& measured, const Changes& changes,
                          const RunConfig& config, std::vector<std::string>& notes) {
  if (change_setting(changes, "inject")) return;
  for (const Injection& injection : measured.declared.inject.value) {
    if (!is_among(config.declared.inject, injection))
      notes.push_back("inject = " + shown_text(injection.text) +
                      " is left out: what it delays is not there");
  }
}

void change_environment(const Change& change, const EnvironmentChange& world, RunConfig& config,
                        FittedCosts& costs, std::vector<std::string>& notes) {
  const std::string place = change_place(change) + ": ";
  if (world.word == WorldWord::other_threads) {
    costs.other_threads = world.value;
  } else if (costs.has_samples() && !is_about_gpu(world.word)) {
    model::change_storage(costs, world, place, notes);
  } else if (!change_world(config, world)) {
    throw UsageError(place + "the run declares nothing of it",
                     "give storage-latency, storage-bandwidth or queue-depth, if the run has them");
  }
}

void speed_up(const Change& change, const Speedup& speedup, RunConfig& config, FittedCosts& costs,
              std::vector<std::string>& notes) {
  if (costs.knows(speedup.stage)) {
    costs.speed[speedup.stage] = speedup.factor;
    if (speedup.stage == Stage::read) model::make_reads_faster(costs, speedup.factor);
  } else if (!make_faster(config, speedup)) {
    notes.push_back(change.key + " has no effect: the stage costs nothing here");
  }
}

// Loading a data set takes the times of reads, and of decodes if images are kept. So does a run
// that reads each sample, if the measured one kept the data set.
void refuse_unknown_loading(const RunConfig& base, const RunConfig& config,
                            const FittedCosts& costs) {
  const Resident& after = config.image.resident.value;
  if (!costs.has_samples() || after == base.image.resident.value) return;
  const std::string place = "resident = " + find_field("resident")->text(config) + ": ";
  if (is_unknown(costs, config, Stage::read))
    throw UsageError(place + "the run read no sample, so the time of a read is unknown",
                     "measure it with 'loaderscope run'");
  if (after.form == ResidentForm::decoded && is_unknown(costs, config, Stage::decode))
    throw UsageError(place + "the CPU decoded no image in the run, so the time to load is unknown",
                     "measure it with 'loaderscope run'");
}

bool has_simulated_gpu(const RunConfig& config) {
  return device_kind(config.trainer.device.value) == DeviceKind::simulated;
}

// A run without data can declare what a simulated GPU takes.
bool declares_gpu(const RunConfig& config) {
  return !config.has_data() && has_simulated_gpu(config);
}

bool moves_work_to_gpu(const Changes& changes) {
  return change_setting(changes, "decode") || change_setting(changes, "augment-on");
}

Changes joined(Changes changes, const Changes& added) {
  changes.insert(changes.end(), added.begin(), added.end());
  return changes;
}

}  // namespace

void FittedModel::refuse_unknown(const Changes& changes) const {
  for (const Change& change : changes) {
    const Field* field = find_field(change.key);
    if (field == nullptr) continue;  // a speed
    const std::string place = change_place(change) + ": ";
    if (field->is_about(about::kNotModelled))
      throw UsageError(place + "a what-if keeps " + std::string(field->name) + " as it is",
                       "leave it out");
    if (const auto word = word_for_setting(field->name); costs_->has_samples() && !word.empty())
      throw UsageError(place + "a measured run takes another setting for it",
                       "give --set " + std::string(word) + "=" + shown_text(change.value));
    if (costs_->made_for_device && costs_->has_samples() && is_place_of_work(*field)) {
      throw UsageError(place + "the GPU did this work, and its time on the CPU was not measured",
                       "measure it with --decode cpu");
    }
    if (costs_->has_samples() && field->is_about(kUnknownOfData)) {
      throw UsageError(place + "the result does not say what this would cost",
                       "measure it with 'loaderscope run'");
    }
    if (!costs_->separates_samples() && field->is_about(about::kWithinBatch)) {
      throw UsageError(
          place +
              "the loader makes whole batches, and no single sample was seen: the time of one "
              "is not known",
          field->is_about(about::kNativeLoader) ? "" : "measure it");
    }
  }
}

model::GpuStream FittedModel::usual_stream() const {
  return measured_ ? model::GpuStream::training : model::GpuStream::own;
}

model::GpuCosts FittedModel::gpu_costs(const Changes& changes, model::GpuStream stream,
                                       Amount amount) const {
  if (!gpu_rates_ || !moves_work_to_gpu(changes)) return {};
  return model::gpu_costs(*gpu_rates_, gpus_, config_, counterfactual(config_, changes), changes,
                          stream, amount);
}

std::optional<Changes> FittedModel::with_own_stream(const Changes& changes) const {
  if (!gpu_costs(changes, usual_stream(), Amount::usual).follows_training) return std::nullopt;
  return joined(changes, gpu_costs(changes, model::GpuStream::own, Amount::usual).added);
}

FittedModel::Case FittedModel::make_case(const Changes& changes, FittedCosts costs,
                                         Amount amount) const {
  refuse_unknown(changes);
  Case result{std::move(costs), {}};
  RunConfig& config = result.prediction.config;
  const model::GpuCosts gpu = gpu_costs(changes, usual_stream(), amount);
  config = counterfactual(config_, joined(changes, gpu.added));
  result.prediction.notes = gpu.notes;
  note_lost_injections(config_, changes, config, result.prediction.notes);
  for (const Change& change : changes) change_beyond_settings(change, result);
  if (change_setting(changes, "cores"))
    for (JobHosts::Host& host : result.costs.hosts.measured) host.cores = 0;
  resolve_for_model(result);
  if (result.costs.has_samples()) keep_measured(changes, result);
  refuse_unknown_loading(config_, config, result.costs);
  if (config.makes_on_device() && result.costs.compute_threads > 0)
    throw UsageError("the program trains on the CPU", "give a result of training on a GPU");
  if (measured_ && has_first_workers(config_, config, result.costs)) {
    declare_first_workers(result.costs, amount, config);
    result.prediction.notes.push_back(first_workers_note(result.costs.batch));
  }
  model::note_same_compute(config_, config, result.costs, changes, result.prediction.notes);
  return result;
}

FittedModel::Case FittedModel::make_case(const Changes& changes) const {
  return make_case(changes, *costs_);
}

RunConfig FittedModel::base_config() const { return make_case({}).prediction.config; }

void FittedModel::resolve_for_model(Case& changed) const {
  RunConfig& config = changed.prediction.config;
  std::vector<std::string>& notes = changed.prediction.notes;
  if (device_kind(config.trainer.device.value) != DeviceKind::none)
    config.trainer.device.value = "sim";
  if (changed.costs.has_samples()) {
    config.engine.value = "native";
    config.data.source.set(config_.data.source);
    config = resolve_measured(config, limits_, notes);
  } else {
    config.engine.value = "model";
    config = resolve_to_predict(config, limits_, notes);
  }
  config.engine.value = "model";
}

// Applies a change that only a model can make.
void FittedModel::change_beyond_settings(const Change& change, Case& changed) {
  RunConfig& config = changed.prediction.config;
  std::vector<std::string>& notes = changed.prediction.notes;
  if (const auto world = find_environment_change(change))
    change_environment(change, *world, config, changed.costs, notes);
  if (const auto speedup = find_speedup(change))
    speed_up(change, *speedup, config, changed.costs, notes);
}

// Keeps values that no declared setting determines, and drops values that were both measured and
// declared.
void FittedModel::keep_measured(const Changes& changes, Case& changed) const {
  RunConfig& config = changed.prediction.config;
  if (!change_setting(changes, "samples")) config.data.samples.value = config_.data.samples;
  // The data determines the delivered size of arrays.
  if (!config.data.delivered_bytes.given)
    config.data.delivered_bytes.value = config_.data.delivered_bytes;
  drop_measured_injections(config, config_, changed.costs);
  model::give_shards_to_workers(config, changed.costs.shards, changed.prediction.notes);
  model::queue_in_proportion(changed.costs, *costs_, config_, config);
  if (!change_setting(changes, "compute")) return;
  for (FittedCosts::Rank& rank : changed.costs.ranks) rank.stages[Stage::compute] = {};
}

MachineLimits declared_limits(const RunConfig& current) {
  return {std::clamp(current.declared.cores.value, 1e-3, 65536.0)};
}

RunConfig rerun_settings(const RunConfig& current, const Changes& changes) {
  model::refuse_trace(current.engine.value);
  RunConfig config = counterfactual(current, changes);
  for (const Change& change : changes) {
    if (const std::optional<Speedup> speedup = find_speedup(change)) make_faster(config, *speedup);
    if (const auto world = find_environment_change(change)) change_world(config, *world);
  }
  if (!is_guest_engine(current.engine.value)) {
    if (current.has_data()) config.data.source.set(current.data.source);
    config.trainer.device.set(current.trainer.device);
  }
  return config;
}

RunConfig rerun_config(const RunConfig& current, const Changes& changes) {
  std::vector<std::string> notes;
  return resolve(rerun_settings(current, changes), declared_limits(current), notes);
}

RunConfig FittedModel::to_run(const Changes& named) const {
  refuse_unknown(named);
  Changes changes;
  std::transform(named.begin(), named.end(), std::back_inserter(changes), as_setting);
  for (const Change& change : changes) {
    if (change.key == kOtherThreads)
      throw UsageError("--verify: other-threads cannot be set here",
                       "end the other programs first");
    const auto world = find_environment_change(change);
    if (world && is_about_gpu(world->word)) {
      if (declares_gpu(config_)) continue;
      throw UsageError("--verify: " + change.key + " cannot be set here, the GPU has its own rate",
                       "leave it out");
    }
    if (world && costs_->has_samples())
      throw UsageError("--verify: " + change.key + " cannot be set here, the storage is real",
                       "run it where it is so");
    const std::optional<Speedup> speedup = find_speedup(change);
    RunConfig declared = config_;
    if (!speedup || (!costs_->knows(speedup->stage) && make_faster(declared, *speedup))) continue;
    throw UsageError("--verify: " + change.key + " cannot be run, the stage works for real",
                     "leave out one of them");
  }
  if (has_simulated_gpu(config_))
    changes = joined(changes, gpu_costs(named, usual_stream(), Amount::usual).added);
  return rerun_config(measured_ ? *measured_ : config_, changes);
}

std::string FittedModel::why_not_run(const Changes& changes) const {
  try {
    to_run(changes);
    return "";
  } catch (const Error& reason) {
    return reason.what();
  }
}

}  // namespace loaderscope
