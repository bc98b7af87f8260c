// Search for the best fix of a finding. For numeric settings it finds the smallest value with
// nearly the best gain.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "analysis/findings/finding_input.h"
#include "loaderscope/predict.h"

namespace loaderscope {

inline constexpr double kKnee = 0.9;  // share of the best gain; the smallest such number is advised
inline constexpr double kWorthNaming =
    0.05;  // share of the window that a larger number saves in addition
inline constexpr double kVisible = 0.0005;  // change of a share that is visible when printed

// A possible fix of a finding, with its prediction.
struct FixCandidate {
  Changes changes;
  Prediction prediction;
  double regained = 0;  // share of the window; negative if the same samples take longer
  // Value with the largest gain, if that gains at least kWorthNaming more than this one.
  Changes best_changes = {};
  std::optional<Prediction> best = {};
};

// Returns the share of the window that the same samples save.
double regained_share(const Prediction& changed);

// Returns nothing if the changes contradict the other settings.
std::optional<Prediction> predicted(const Predictor& predict, const Changes& changes);

// Returns a predictor that makes each prediction once. Any thread may call it.
Predictor memoize(Predictor predict);

// Returns the loss of the busy share; 0 if it does not fall. The rate may still rise, with short
// batches left out or with larger ones.
double lost_busy(const Prediction& changed);

// Returns nothing if all ways contradict other settings, or cost more busy share than `may_lose`.
// Returns the empty change if `candidate` has no way. Makes at most about twenty predictions for
// each range.
std::optional<FixCandidate> search_fix(const Candidate& candidate, const Prediction& base,
                                       const Predictor& predict, double may_lose = kVisible);

// Range of the search: above `low` and up to `most`, with `first` tried before all others. The
// answer may exceed the smallest by the share `slack`.
struct Bounds {
  std::int64_t low = 0, first = 1, most = 1;
  double slack = 0;
};

// Returns the smallest sufficient number; all larger numbers must suffice too. Doubles it until it
// suffices, then halves the range. Returns nothing if `most` does not suffice.
std::optional<std::int64_t> smallest_sufficient(const Bounds& bounds,
                                                const std::function<bool(std::int64_t)>& is_enough);

}  // namespace loaderscope
