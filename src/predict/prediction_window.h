// Steps and warm-up of a prediction, chosen so that it and its base see the same epochs and steps.
#pragma once

#include <cstdint>

#include "loaderscope/run_config.h"

namespace loaderscope::model {

inline constexpr std::int64_t kSamplesOfFit = 20'000;  // samples of a run that only fits the costs

// Steps of each rank.
struct StepsToRun {
  std::int64_t warmup = 0, measured = 0;
};

// Makes it the window of `config`, whatever that said of it.
void set_window(RunConfig& config, const StepsToRun& steps);

// The run again: what was measured, but at most about `most_samples` of all ranks, and at least 60
// steps, or 20 where 60 would be many more samples.
StepsToRun steps_of_run(const StepsToRun& run, const RunConfig& config, std::int64_t most_samples);

struct MatchedWindows {
  StepsToRun base, changed;
};

// Returns windows with the same samples on both sides, after a warm-up that is long enough for the
// larger prefetch depth. Data with an end uses one epoch, at the place of the run, if the run was
// within one epoch. Otherwise it uses the same whole epochs.
MatchedWindows match_windows(const StepsToRun& run, const RunConfig& base, const RunConfig& changed,
                             std::int64_t most_samples);

// Each epoch begins with an empty window, and with new workers where they are not kept. With other
// workers, or another window, what that takes is in none of the steps of a run within one epoch,
// but in each epoch of the changed one.
// Whole epochs then, as far as they are not too long; else the same.
MatchedWindows with_starts_of_epochs(const MatchedWindows& sides, const RunConfig& base,
                                     const RunConfig& changed, std::int64_t most_samples);

}  // namespace loaderscope::model
