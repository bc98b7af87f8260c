// Predictions: the rate of a run with changes, in the model that is fitted to its record.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

// What the model says of one configuration.
struct Prediction {
  RunConfig config;  // values in force
  Account account;
  double samples_per_s = 0;
  // Of the steps, those whose batch was there when the trainer asked for it or before the device
  // ran dry; first batches of an epoch do not count.
  double ready = 1;
  std::vector<std::string> notes;  // how far it goes beyond what was measured
  // It rests on what was never measured, and nothing is known of it: see is_known().
  bool is_unknown = false;
  // Of the rate, either way, where it rests on what was measured beside less load, or on what other
  // programs take. 0: nothing says so.
  double may_be_off = 0;
  // Of the run itself in the model, over the same epochs and steps; of FittedModel::predict() only.
  double base_samples_per_s = 0, base_busy = 0;
  Account base_account;
  MeasureConfig base_measure;  // the window of that

  bool has_busy() const;
  double busy() const;  // share of the window; 0 without a compute
  double gain() const;  // of the rate, over the run itself
  // The cause of which the change takes away most seconds per sample. Empty if it takes away none,
  // or if the run itself was not predicted with it.
  std::optional<Cause> removes() const;
  // Whether its rate may be said. All commands ask this: what one of them says all say.
  bool is_known() const;
};

// What was measured and what becomes of it: measured x the ratio in the model, so that what the
// model is off by does not show as a gain.
struct ScaledPrediction {
  double rate_before = 0, rate_after = 0;  // samples per second
  double busy_before = 0, busy_after = 0;  // 0 without a compute
};
ScaledPrediction scale_prediction(const Analysis& measured, const Prediction& prediction);

// May be called by several threads at once.
using Predictor = std::function<Prediction(const Changes&)>;

// The other findings of a run, those that `predict` says give back most first; those for an
// administrator last where a setting helps. What gives back less than 1 % of the window is left
// out.
std::vector<Finding> find_causes(const RunRecord& record, const Analysis& analysis,
                                 const Predictor& predict);

// What would keep the GPU of a run busy enough. Nothing where it is, where there is no compute to
// be busy with, and where no stage of the loader is waited for.
std::optional<TargetOptions> what_it_takes(const Analysis& analysis, const Prediction& base,
                                           const Predictor& predict);

// `analysis` with what the model fitted to `record` says: how well it fits, the findings, how the
// stall divides into mean and spread, how deep a window would do, and what it would take. `past` is
// quoted beside them. Directions where nothing can be predicted, and once `stop_signal` is no
// longer 0.
void add_findings(Analysis& analysis, const RunRecord& record, const PastPredictions& past = {},
                  const std::atomic<int>* stop_signal = nullptr);

}  // namespace loaderscope
