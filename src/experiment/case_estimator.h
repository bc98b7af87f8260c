// Estimates for each case of a grid. They combine measurements and predictions of the model,
// weighted by their reliability. The errors of nearby predictions correct the model.
#pragma once

#include <vector>

#include "experiment/case_statistics.h"
#include "experiment/settings.h"
#include "experiment/tune.h"

namespace loaderscope {

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

}  // namespace loaderscope
