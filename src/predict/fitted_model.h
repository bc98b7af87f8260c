// What-if model: a recorded run, or declared costs, run again in the model with other settings.
// Also the settings to run a run again for real.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/first_workers.h"
#include "analysis/gpu_rates.h"
#include "engine/pipeline/fitted_costs.h"
#include "loaderscope/engine.h"
#include "loaderscope/predict.h"
#include "loaderscope/settings.h"
#include "predict/gpu_costs.h"
#include "predict/storage_values.h"

namespace loaderscope {

namespace model {
class BaselineCache;
}

// The storage that all hosts of a job share, in place of the measured one.
struct SharedStorage {
  double bandwidth = 0;  // bytes per second
  Nanos latency = 0;     // time to the first byte of a read
};

struct LoaderAlone {
  RunRecord record;
  // Rate in bytes per second of the storage that all hosts of the job share; 0 if no reader slows
  // another.
  double storage_rate = 0;
  std::optional<double> request_bytes;  // per sample; empty: its stored size
};

// Samples per prediction in the model. All commands use this number, so that they all predict the
// same for a change.
inline constexpr std::int64_t kSamplesOfPrediction = 20'000;

// The model of a run. Declared values come from its configuration, measured values from its rows.
class FittedModel {
 public:
  // Throws RunError if the record contains too little. Also throws, like predict(), when
  // `stop_signal` is no longer 0.
  explicit FittedModel(const RunRecord& record, const std::atomic<int>* stop_signal = nullptr);
  // Uses declared costs only: the settings of flags and scenario.
  FittedModel(const RunConfig& given, const MachineLimits& limits);

  // Returns the storage values that the changes set, with the values of the run.
  std::vector<StorageValue> storage_values(const Changes& changes) const;

  // Predicts the run itself over its own steps, to check the model.
  Prediction fitted(std::int64_t most_samples = kSamplesOfPrediction) const;

  // Runs at most about `most_samples` of all ranks, but at least 60 steps, or 20 if 60 would be
  // many more samples. The unchanged run is predicted over the same epochs and steps. Throws
  // UsageError if the changes contradict each other, or if the record does not cover them. May be
  // called by several threads at once.
  Prediction predict(const Changes& changes, std::int64_t most_samples = kSamplesOfPrediction,
                     const Knockouts& knockouts = {}) const;

  // Predicts under the load that other processes caused in `measured`, a run of the changes. Their
  // load is then no part of the error.
  Prediction predict_under_load(const RunRecord& measured, const Changes& changes) const;

  // Predicts the run if these ranks were like the others: with the costs of the first other rank,
  // and without their injections.
  Prediction predict_like_others(const std::vector<std::size_t>& ranks,
                                 std::int64_t most_samples = 1'000'000) const;

  // Predicts with every declared and measured cost at its mean.
  Prediction predict_at_means(std::int64_t most_samples = kSamplesOfPrediction) const;

  // Predicts `steps` steps of each rank, for any length of the run, after a warm-up that fills the
  // prefetch depth.
  Prediction predict_steps(const Changes& changes, std::int64_t steps,
                           const Knockouts& knockouts = {}) const;

  // Predicts a job on many machines. Without `storage`, reads keep their times. Whole epochs are
  // run if an epoch has at most `steps` or `longest_epoch` steps. Otherwise the job's data has no
  // end (`data.samples` of the prediction is 0), and no step includes the start of an epoch.
  Prediction predict_job(const JobHosts& hosts, const std::optional<SharedStorage>& storage,
                         const Changes& changes, std::int64_t steps,
                         std::int64_t longest_epoch) const;

  // Runs the loader of the measured ranks in such a job without other limits. Its GPU takes no
  // time, so that workers never rest. It has its own host, and no reader waits for another.
  LoaderAlone loader_alone(const std::optional<SharedStorage>& storage, const Changes& changes,
                           std::int64_t steps) const;

  // Returns the changes with the GPU's work for the loader on a stream of its own. Empty if it is
  // there anyway, or if the changes say where it is.
  std::optional<Changes> with_own_stream(const Changes& changes) const;
  // The GPU's rates that the record contains. Null without a record.
  const GpuRates* gpu_rates() const { return gpu_rates_ ? &*gpu_rates_ : nullptr; }

  // Returns the settings to run the changes for real. Throws UsageError if that is not possible.
  RunConfig to_run(const Changes& changes) const;
  // Returns the reason why the changes cannot be run for real here, or "".
  std::string why_not_run(const Changes& changes) const;

  const std::vector<std::string>& notes() const { return notes_; }  // assumptions of the fit
  // Returns notes on how far a prediction of the changes exceeds the measurements, without running
  // it.
  std::vector<std::string> extrapolations(const Changes& changes) const;

 private:
  // The run with other settings, as the model runs it. The prediction has no result yet.
  struct Case {
    FittedCosts costs;
    Prediction prediction;
  };

  void fit_by_runs(FittedCosts& costs, const RunRecord& record);
  RunRecord simulate(const RunConfig& config, const FittedCosts& costs,
                     const Knockouts& knockouts = {}, bool only_account = false) const;

  // Throw UsageError as predict() does. `costs`: costs of the run, if they differ from the measured
  // ones. `amount`: amount of the work that first workers add.
  Case make_case(const Changes& changes) const;
  Case make_case(const Changes& changes, FittedCosts costs, Amount amount = Amount::usual) const;
  RunConfig base_config() const;  // config without changes
  void refuse_unknown(const Changes& changes) const;
  static void change_beyond_settings(const Change& change, Case& changed);
  void resolve_for_model(Case& changed) const;
  void keep_measured(const Changes& changes, Case& changed) const;
  model::GpuCosts gpu_costs(const Changes& changes, model::GpuStream stream, Amount amount) const;
  model::GpuStream usual_stream() const;
  // Adds the error that unmeasured costs cause.
  void add_spread_of_costs(const Changes& changes, const Knockouts& knockouts,
                           Prediction& usual) const;

  void set_windows(RunConfig& base, RunConfig& changed, const Changes& changes,
                   std::int64_t most_samples) const;
  void set_window_after_warmup(RunConfig& config, std::int64_t steps) const;
  void note_extrapolation(Prediction& prediction, const FittedCosts& costs) const;
  Prediction run(Prediction prediction, const FittedCosts& costs,
                 const Knockouts& knockouts = {}) const;
  Prediction base_over(const RunConfig& config) const;
  Prediction set_base(Prediction& prediction, const RunConfig& base) const;

  std::vector<std::string> notes_;  // declared before the members that may add notes
  std::shared_ptr<model::BaselineCache> base_runs_;
  const std::atomic<int>* stop_signal_ = nullptr;
  RunConfig config_;                   // settings in force, of an equal native loader
  std::optional<RunConfig> measured_;  // settings of another program's loader, as it ran
  MachineLimits limits_;
  std::shared_ptr<const FittedCosts> costs_;
  std::optional<GpuRates> gpu_rates_;    // empty without a record
  std::string gpus_;                     // names of the GPUs of the record
  std::int64_t steps_ = 0, warmup_ = 0;  // length of the run in steps; 0: the settings define it
};

GoodnessOfFit goodness_of_fit(const Analysis& measured, const Prediction& fitted);

// Returns the settings to run `current`, the settings of a run, again with changes on the same
// data and device. Throws UsageError if the changes contradict each other.
RunConfig rerun_config(const RunConfig& current, const Changes& changes);
// Returns the same before resolve(): the settings to give.
RunConfig rerun_settings(const RunConfig& current, const Changes& changes);

// Returns the machine's limits that the settings in force depend on.
MachineLimits declared_limits(const RunConfig& current);

}  // namespace loaderscope
