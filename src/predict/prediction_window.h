// Steps and warm-up of a prediction, chosen so that it and its base see the same epochs and steps.
// Results of the base, one per window.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <mutex>

#include "loaderscope/predict.h"
#include "loaderscope/run_config.h"

namespace loaderscope::model {

inline constexpr std::int64_t kSamplesOfFit = 20'000;  // samples of a run that only fits the costs

// Steps of each rank.
struct StepsToRun {
  std::int64_t warmup = 0, measured = 0;
};

// Sets the window of `config`, and replaces its former window.
void set_window(RunConfig& config, const StepsToRun& steps);

// Returns the steps of the run, limited to about `most_samples` of all ranks, but at least 60
// steps, or 20 if 60 would be many more samples.
StepsToRun steps_of_run(const StepsToRun& run, const RunConfig& config, std::int64_t most_samples);

struct MatchedWindows {
  StepsToRun base, changed;
};

// Returns windows with the same samples on both sides, after a warm-up that is long enough for the
// larger prefetch depth. Data with an end uses one epoch, at the place of the run, if the run was
// within one epoch. Otherwise it uses the same whole epochs.
MatchedWindows match_windows(const StepsToRun& run, const RunConfig& base, const RunConfig& changed,
                             std::int64_t most_samples);

// Includes the starts of epochs. Each epoch begins without batches in flight, and with new workers
// if they do not persist. With other workers or another prefetch depth, no step of a run within one
// epoch shows the start, but each epoch of the changed run has it. Returns windows of whole epochs
// if these are not too long, otherwise `sides`.
MatchedWindows with_starts_of_epochs(const MatchedWindows& sides, const RunConfig& base,
                                     const RunConfig& changed, std::int64_t most_samples);

// Results of the unchanged run in the model, one per window. Changes with the same window share
// one.
class BaselineCache {
 public:
  // Returns the result over the window of `config`, and calls `run` if it is unknown. If several
  // threads want the same window, one of them runs it. Throws what that run threw.
  Prediction over(const RunConfig& config, const std::function<Prediction()>& run);

 private:
  // Steps, duration, warm-up in steps and in ns, epochs.
  using Window = std::array<std::int64_t, 5>;

  std::mutex mutex_;
  std::map<Window, std::shared_future<Prediction>> runs_;
};

}  // namespace loaderscope::model
