// The parts of a tune.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiment/case_run.h"
#include "experiment/case_statistics.h"
#include "experiment/settings.h"
#include "experiment/tune.h"
#include "loaderscope/experiment.h"

namespace loaderscope {

// Estimates for each case of a grid. They combine measurements and predictions of the model,
// weighted by their reliability. The errors of nearby predictions correct the model.
class CaseEstimator {
 public:
  explicit CaseEstimator(const Tune& tune);

  const CaseStatistics& judgement() const { return judgement_; }
  bool knows(std::size_t i) const { return rate_[i] > 0; }
  double rate(std::size_t i) const { return rate_[i]; }
  double margin() const { return margin_; }  // relative error of the model, less the noise of runs
  std::optional<std::size_t> best() const { return best_; }
  // The cheapest case that is believed to reach the goal; the best where none is.
  std::optional<std::size_t> cheapest() const { return cheapest_; }

  bool reaches_goal(std::size_t i) const { return score(i) >= wanted_; }
  bool may_reach_goal(std::size_t i) const { return score(i) * (1 + margin_) >= wanted_; }
  bool may_change_the_best(std::size_t i) const;
  // Requires a measured case. Returns how certain it is.
  double probability(std::size_t i) const;
  // Requires a measured case. Returns the probability that it is as near to the best one, or as
  // busy, as the goal demands.
  double chance(std::size_t i) const;
  bool is_ruled_out(std::size_t i) const;
  // Requires a measured case that is neither proven nor ruled out. True if `runs` of it and of the
  // best case could prove it or rule it out, if both estimates stay the same.
  bool can_be_decided(std::size_t i, std::size_t runs) const;
  bool is_cheaper(std::size_t a, std::size_t b) const;

 private:
  double score(std::size_t i) const { return goal_.busy ? busy_[i] : rate_[i]; }
  double correction(const Tune& tune, std::size_t i) const;
  void weigh(const Tune& tune, std::size_t i);
  void choose();

  TuneGoal goal_;
  CaseStatistics judgement_;
  std::vector<Price> price_;
  std::vector<double> rate_, busy_;  // 0: not known
  double margin_ = 0;
  double wanted_ = 0;  // score
  std::optional<std::size_t> best_, cheapest_;
};

bool is_possible(const Tune& tune, std::size_t i);  // true if neither skipped nor refused
// |predicted / measured - 1| of each measured case.
std::vector<double> prediction_errors(const Tune& tune, const CaseStatistics& judgement);

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
Bytes estimate_private_bytes(const Case& one, Bytes resident_before);

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
