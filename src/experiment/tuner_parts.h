// The parts of a tune: each part is a file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiment/case_estimator.h"
#include "experiment/case_run.h"
#include "experiment/tune.h"
#include "loaderscope/experiment.h"

namespace loaderscope {

using Forecasters = std::map<std::size_t, Forecaster>;  // one per stratum

// --- The settings that the user has now.

// Adds the base case, and returns its index.
std::size_t add_present(Tune& tune, const MachineLimits& limits);
// The case of the grid that has the settings of `present`, once that one has run. Nothing where
// none has them all.
std::optional<std::size_t> like_present(const Tune& tune, std::size_t present);

// --- Past the ends of the axes.

// Returns the setting that is expected to exceed the whole grid. Nothing if the axes reach far
// enough.
std::optional<BeyondGrid> expected_beyond(const Tune& tune, const CaseEstimator& belief,
                                          const Forecasters& forecasters);
// Returns true if a case with the last possible value of the axis has run.
bool has_run_at_end(const Tune& tune, const std::string& key);
// "": the axis ends.
std::string why_left_out(const Tune& tune, const Change& beyond, const TuneOptions& options,
                         Bytes private_bytes);
// Adds the next values of the axis, with their cases. False: there may be no more.
bool extend_axis(Tune& tune, const std::string& key, const TuneOptions& options);

// --- Groups of cases that one model can predict.

// The changes that a model fitted to one run can predict; the others need a run of their own.
Changes predictable(const Changes& changes);
// One number per case: the same where only predictable changes differ.
std::vector<std::size_t> predictable_groups(const std::vector<Case>& cases);

// --- Cases that would not fit, before they are run.

// Returns why a case must not be run, or "". `private_bytes`: measured memory of one worker besides
// the slots; 0 before a run.
std::string reason_not_to_run(const RunConfig& config, const TuneOptions& options,
                              Bytes private_bytes);

// Memory of one worker besides the slots, from a run.
Bytes private_bytes_of(const Case& one, Bytes resident_before);

// --- The time of the plain grid, which a tune replaces.

// Two runs of each case that can run: each of `length`, or longer where its fewest steps are, as
// far as it is known how long they take.
Nanos time_of_grid(const Tune& tune, const CaseEstimator& belief, const CaseRunner& runner,
                   Nanos length);

// --- The next runs of a tune.

inline constexpr double kProven = 0.95;     // probability from which on a case is proven
inline constexpr std::size_t kMinRuns = 2;  // runs of a recommended case

// Returns the cases of the next round: the cheapest that is expected to reach the goal, with its
// neighbours, the best, and cases that may still replace them. Empty when the answer is final.
std::vector<std::size_t> what_to_run(const Tune& tune, const CaseEstimator& belief);

// --- The answer.

// Fills which case is the best, which one to use, and how sure that is.
void decide(Tune& tune, const CaseEstimator& belief);

// --- The reasons for the answer of a tune: its limit, the next step, the error of the model, the
// effect of the compute, and the answer without the other programs.
// `records` by case.

// `records` by case.
void explain(Tune& tune, const CaseEstimator& belief, const Forecasters& forecasters,
             const std::map<std::size_t, RunRecord>& records);

}  // namespace loaderscope
