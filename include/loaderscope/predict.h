// Predictions: the rate of a run with changes, in the model that is fitted to its record.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

// The prediction of one configuration.
struct Prediction {
  RunConfig config;  // values in force
  Account account;
  double samples_per_s = 0;
  // Share of the steps whose batch was ready when the trainer asked, or before the device ran dry.
  // The first batches of an epoch do not count.
  double ready = 1;
  std::vector<std::string> notes;  // assumptions beyond what was measured
  // The prediction needs a cost that was never measured and cannot be estimated; see is_known().
  bool is_unknown = false;
  // Largest error of the rate, in both directions, if the costs were measured under less load or
  // depend on other programs. 0 if neither is the case.
  double may_be_off = 0;
  // The run without the changes in the model, over the same epochs and steps. Only
  // FittedModel::predict() sets these.
  double base_samples_per_s = 0, base_busy = 0;
  Account base_account;
  MeasureConfig base_measure;  // the window of that

  Nanos loading = 0;     // time to load a resident data set, before the first batch
  Bytes held_bytes = 0;  // size of the resident data set

  bool has_busy() const;
  double busy() const;  // share of the window; 0 without a compute
  double gain() const;  // relative gain of the rate over the run itself
  // The cause of which the change takes away most seconds per sample. Empty if it takes away none,
  // or if the run itself was not predicted with it.
  std::optional<Cause> removes() const;
  // Returns whether a command may print the rate. All commands ask this, so all print the same.
  bool is_known() const;
};

// The measured rate and the predicted one. The predicted one is the measured one times the ratio in
// the model, so that an error of the model is no gain.
struct ScaledPrediction {
  double rate_before = 0, rate_after = 0;  // samples per second
  double busy_before = 0, busy_after = 0;  // 0 without a compute
};
ScaledPrediction scale_prediction(const Analysis& measured, const Prediction& prediction);

// Loading a data set into GPU memory, and the time that it saves.
struct ResidentGain {
  double load_s = 0;   // time before the first batch
  double saved_s = 0;  // per epoch; not above 0: nothing is saved

  // Whole epochs until loading has paid. Empty if it never does.
  std::optional<std::int64_t> epochs() const;
  // "pays after 5 epochs (20 s to load, 4 s saved per epoch)"
  std::string sentence() const;
};

// Empty if the prediction keeps no data set on the device. The rates are in samples per second.
std::optional<ResidentGain> resident_gain(const Prediction& prediction, double rate_before,
                                          double rate_after);

// May be called by several threads at once.
using Predictor = std::function<Prediction(const Changes&)>;

// Finds the causes other than wrong data. The finding with the largest predicted gain comes first.
// Findings for an administrator come last if a setting helps. A finding that gains less than 1 % of
// the window is left out.
std::vector<Finding> find_causes(const RunRecord& record, const Analysis& analysis,
                                 const Predictor& predict);

// Finds the changes that would keep the GPU busy enough. Returns nothing if it is busy enough, if
// there is no compute, or if no stage of the loader is waited for.
std::optional<TargetOptions> what_it_takes(const Analysis& analysis, const Prediction& base,
                                           const Predictor& predict);

// Adds the results of the model that is fitted to `record`: how well it fits, the findings, the
// split of the stall, the required prefetch depth and the target options. `past` is quoted with
// them. Adds directions only if nothing can be predicted, or after `stop_signal` is set.
void add_findings(Analysis& analysis, const RunRecord& record, const PastPredictions& past = {},
                  const std::atomic<int>* stop_signal = nullptr);

}  // namespace loaderscope
