// What is believed of each case of a grid: what was measured and what the model says, each with the
// weight that it has earned; the model is put right by how far it was off nearby.
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
  double margin() const { return margin_; }  // how far the model is off, noise of runs set aside

  // The highest rate; of cases that are alike the cheapest.
  std::optional<std::size_t> best() const { return best_; }
  // The cheapest case that is believed to reach the goal; the best where none is.
  std::optional<std::size_t> cheapest() const { return cheapest_; }

  bool reaches_goal(std::size_t i) const { return score(i) >= wanted_; }
  bool may_reach_goal(std::size_t i) const { return score(i) * (1 + margin_) >= wanted_; }
  bool may_change_the_best(std::size_t i) const;
  // Of a measured case: how sure it is.
  double probability(std::size_t i) const;
  // Of a measured case: how likely it is as near to the best one, or as busy, as is wanted.
  double chance(std::size_t i) const;
  bool is_ruled_out(std::size_t i) const;
  // Of a measured case that is neither proven nor ruled out: whether `runs` of it and of the best
  // could make it one of them, if both stay where they are.
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

bool is_possible(const Tune& tune, std::size_t i);  // neither skipped nor refused
// |predicted / measured - 1| of each measured case.
std::vector<double> prediction_errors(const Tune& tune, const CaseStatistics& judgement);

}  // namespace loaderscope
