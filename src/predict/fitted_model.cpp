// The model of a run, made of its record.
#include "predict/fitted_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <semaphore>
#include <string_view>
#include <thread>

#include "analysis/epochs.h"
#include "analysis/wording.h"
#include "engine/model/model_engine.h"
#include "loaderscope/device.h"
#include "loaderscope/errors.h"
#include "loaderscope/run_record.h"
#include "loaderscope/settings.h"
#include "predict/device_fit.h"
#include "predict/fit.h"
#include "predict/prediction_limits.h"
#include "predict/prediction_window.h"
#include "predict/storage_fit.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

// Gives data without a length, such as an iterable data set, the length of the epochs that were
// seen, if their batches are whole. The workers start again in each of them.
void put_seen_epoch(const RunRecord& seen, RunConfig& config) {
  if (config.data.samples > 0 || seen.ranks.empty()) return;
  const RankRecord& rank = seen.ranks.front();
  const std::int64_t steps = steps_of_seen_epoch(rank);
  const std::int64_t batch = sane_count(config.loader.batch_size);
  if (steps == 0 || rank.samples < rank.steps() * batch) return;
  config.data.samples.value = steps * batch * sane_count(config.trainer.ranks);
  config.loader.drop_last.value = true;
}

// Returns the observed settings of the loader as settings of a native loader.
RunConfig to_native_config(const RunRecord& record) {
  const RunConfig& seen = record.config;
  RunConfig config = seen;
  put_seen_epoch(record, config);
  config.program.command = {};
  config.program.loader = config.program.train_step = {};
  // The measured times include these injections, and the model has no name for this stage.
  std::erase_if(config.declared.inject.value,
                [](const Injection& injection) { return injection.stage == Stage::opaque; });
  config.data.paths = {};
  config.image.size = RunConfig().image.size;
  config.loader.pin_memory = {};  // the observed memory shows its effect
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

constexpr double kNoticeablyAlone = 0.98;

RunError interrupted_prediction() {
  return RunError("the prediction was interrupted",
                  "a saved result gives it with 'loaderscope report'");
}

// A place for one model. At most one model per core runs at once, as the model of a large job takes
// gigabytes.
class Place {
 public:
  Place() { places().acquire(); }
  ~Place() { places().release(); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  static std::counting_semaphore<>& places() {
    static std::counting_semaphore<> all(std::max(1u, std::thread::hardware_concurrency()));
    return all;
  }
};

std::string note_of_compute(const FittedCosts& costs) {
  return fmt::format(
      "training computes on the cores that the loader needs, with {:.1f} threads{}",
      costs.compute_threads,
      costs.compute_alone < kNoticeablyAlone
          ? fmt::format(", and would take {} of its time without the loader next to it",
                        format_percent(costs.compute_alone))
          : "");
}

bool is_of_somebody_else(const RunRecord& record) { return is_guest_engine(record.engine); }

}  // namespace

FittedModel::FittedModel(const RunRecord& record, const std::atomic<int>* stop_signal)
    : base_runs_(std::make_shared<model::BaselineCache>()),
      stop_signal_(stop_signal),
      config_(is_of_somebody_else(record) ? to_native_config(record) : declare_device_work(record)),
      limits_(declared_limits(record.config)),
      gpu_rates_(loaderscope::gpu_rates(record)),
      gpus_(record.machine.gpus.value_or("")) {
  model::refuse_unpredictable(record);
  if (is_of_somebody_else(record)) measured_ = record.config;
  steps_ = record.ranks.front().steps();
  warmup_ = record.ranks.front().warmup_steps;
  for (const RankRecord& rank : record.ranks) {
    steps_ = std::min(steps_, rank.steps());
    warmup_ = std::max(warmup_, rank.warmup_steps);
  }
  auto costs = std::make_shared<FittedCosts>(model::fit_costs(record, notes_));
  costs_ = costs;
  if (!is_model_engine(record.engine)) fit_by_runs(*costs, record);
}

// Fits the costs that need runs of the model, compared with the record.
void FittedModel::fit_by_runs(FittedCosts& costs, const RunRecord& record) {
  RunConfig base = base_config();
  model::refuse_large_steps(base);
  model::set_window(base, model::steps_of_run({warmup_, steps_}, base, model::kSamplesOfFit));
  const auto run_with = [&](const FittedCosts& tried) { return simulate(base, tried); };
  model::fit_compute(costs, record, run_with);
  model::fit_other_threads(costs, record, run_with, notes_);
  if (costs.other_threads > 0) model::fit_compute(costs, record, run_with);
  model::check_requests(costs, record, run_with, notes_);
  if (costs.compute_threads > 0) notes_.push_back(note_of_compute(costs));
}

FittedModel::FittedModel(const RunConfig& given, const MachineLimits& limits)
    : base_runs_(std::make_shared<model::BaselineCache>()),
      config_(resolve_to_predict(given, limits, notes_)),
      limits_(limits),
      costs_(std::make_shared<FittedCosts>()) {
  if (!config_.has_data()) return;
  throw UsageError("what-if: real data must be measured first",
                   "save a result with 'run --json FILE' and give it, "
                   " or declare --cost without --data");
}

RunRecord FittedModel::simulate(const RunConfig& config, const FittedCosts& costs,
                                const Knockouts& knockouts, bool only_account) const {
  const Place place;
  if (stop_signal_ != nullptr && stop_signal_->load() != 0) throw interrupted_prediction();
  RunContext context;
  context.stop_signal = stop_signal_;
  context.model.costs = &costs;
  context.knockouts = knockouts;
  context.model.only_account = only_account;
  RunRecord record = run_model(config, context);
  if (record.interrupted) throw interrupted_prediction();
  return record;
}

std::vector<StorageValue> FittedModel::storage_values(const Changes& changes) const {
  return model::storage_values(*costs_, config_, changes);
}

}  // namespace loaderscope
