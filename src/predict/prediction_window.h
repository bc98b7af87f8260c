// How many steps a prediction runs and behind which warm-up, so that a run and what it is compared
// with see the same epochs and steps.
#pragma once

#include <cstdint>

#include "loaderscope/run_config.h"

namespace loaderscope::model {

inline constexpr std::int64_t kSamplesOfFit = 20'000;  // in a run that only fits the costs

// Of each rank.
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

// The same samples on both sides, behind a warm-up that is long enough for the deeper window. Of
// data with an end: within one epoch where the run was, else the same whole epochs.
MatchedWindows match_windows(const StepsToRun& run, const RunConfig& base, const RunConfig& changed,
                             std::int64_t most_samples);

// Each epoch begins with an empty window, and with new workers where they are not kept. With other
// workers, or another window, what that takes is in none of the steps of a run within one epoch,
// but in each epoch of the changed one.
// Whole epochs then, as far as they are not too long; else the same.
MatchedWindows with_starts_of_epochs(const MatchedWindows& sides, const RunConfig& base,
                                     const RunConfig& changed, std::int64_t most_samples);

}  // namespace loaderscope::model
