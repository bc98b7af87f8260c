// What a tune is put together from: each part is a file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiment/case_estimator.h"
#include "experiment/case_run.h"
#include "experiment/tune.h"
#include "loaderscope/experiment.h"

namespace loaderscope {

using Forecasters = std::map<std::size_t, Forecaster>;  // by stratum

// --- The settings that the user has now.

// Adds the base case, and returns its index.
std::size_t add_present(Tune& tune, const MachineLimits& limits);
// The case of the grid that has the settings of `present`, once that one has run. Nothing where
// none has them all.
std::optional<std::size_t> like_present(const Tune& tune, std::size_t present);

// --- Past the ends of the axes.

// What is expected to give more than all of the grid. Nothing where its ends are far enough out.
std::optional<BeyondGrid> expected_beyond(const Tune& tune, const CaseEstimator& belief,
                                          const Forecasters& forecasters);
// Whether the last value of the axis that has run cases at all has run.
bool has_run_at_end(const Tune& tune, const std::string& key);
// "": the axis ends.
std::string why_left_out(const Tune& tune, const Change& beyond, const TuneOptions& options,
                         Bytes private_bytes);
// Adds the next values of the axis, with their cases. False: there may be no more.
bool extend_axis(Tune& tune, const std::string& key, const TuneOptions& options);

// --- Which cases one model can tell apart.

// The changes that a model fitted to one run can predict; the others need a run of their own.
Changes predictable(const Changes& changes);
// One number per case: the same where only predictable changes differ.
std::vector<std::size_t> predictable_groups(const std::vector<Case>& cases);

// --- What would not fit, before it is run.

// Why a case is not to be run, or "". `private_bytes`: of one worker beside the slots, as measured;
// 0 before a run.
std::string reason_not_to_run(const RunConfig& config, const TuneOptions& options,
                              Bytes private_bytes);

// Memory of one worker beside the slots, from a run.
Bytes private_bytes_of(const Case& one, Bytes resident_before);

// --- How long the plain grid takes that a tune replaces.

// Two runs of each case that can run: each of `length`, or longer where its fewest steps are, as
// far as it is known how long they take.
Nanos time_of_grid(const Tune& tune, const CaseEstimator& belief, const CaseRunner& runner,
                   Nanos length);

// --- What a tune runs next.

inline constexpr double kProven = 0.95;     // probability from which on a case is proven
inline constexpr std::size_t kMinRuns = 2;  // of a case that is recommended

// The cases of the next round: the cheapest that is believed to reach the goal, with its
// neighbours, the best, and what was not ruled out as either. None when the answer stands.
std::vector<std::size_t> what_to_run(const Tune& tune, const CaseEstimator& belief);

// --- The answer.

// Fills which case is the best, which one to use, and how sure that is.
void decide(Tune& tune, const CaseEstimator& belief);

// --- What stands behind the answer of a tune: its limit, what would move it, how sure the model
// is, how the answer changes with the compute, and what it is without the other programs.

// `records` by case.
void explain(Tune& tune, const CaseEstimator& belief, const Forecasters& forecasters,
             const std::map<std::size_t, RunRecord>& records);

}  // namespace loaderscope
