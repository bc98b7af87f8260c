// Chooses one of the ways to mend a finding: of settings that are numbers the smallest value that
// gives nearly as much as the best.
#pragma once

#include <optional>

#include "analysis/findings/finding_input.h"
#include "loaderscope/predict.h"

namespace loaderscope {

inline constexpr double kKnee = 0.9;  // of the best gain: the smallest such number is advised
inline constexpr double kWorthNaming =
    0.05;  // of the window, that a larger number keeps busy besides
inline constexpr double kVisible = 0.0005;  // of a share, in the precision that it is shown with

// A way to mend a finding, with what the model says of it.
struct FixCandidate {
  Changes changes;
  Prediction prediction;
  double regained = 0;  // of the window; below 0 where the same samples take longer
  // The value that gives most, where it gives at least kWorthNaming more than this one.
  Changes best_changes = {};
  std::optional<Prediction> best = {};
};

// Of the window that the same samples would take less.
double regained_share(const Prediction& changed);

// What does not go together with the rest of the settings is no advice.
std::optional<Prediction> predicted(const Predictor& predict, const Changes& changes);

// The same, but each prediction is made once, whoever asks for it and from whichever thread.
Predictor memoize(Predictor predict);

// By how much less of the window is computed; 0 where it is no less. With short batches left out,
// or larger ones, the rate may rise all the same.
double lost_busy(const Prediction& changed);

// Nothing where no way goes together with the rest of the settings, or each costs more of the busy
// share than it may. The change that is none, where `candidate` has no way. Makes at most some
// twenty predictions for each range.
std::optional<FixCandidate> search_fix(const Candidate& candidate, const Prediction& base,
                                       const Predictor& predict, double may_lose = kVisible);

}  // namespace loaderscope
