// Statistics of the cases of an experiment, from their runs.
#pragma once

#include <optional>

#include "experiment/round_effects.h"
#include "loaderscope/experiment.h"

namespace loaderscope {

// Rates are compared as ratios: their logarithms have levels.
class CaseStatistics {
 public:
  // `least_deviation`: how far runs of one case are taken to be apart at least, as a share of the
  // rate, until there are enough of them to say.
  explicit CaseStatistics(const std::vector<Case>& cases, double least_deviation = 0);

  bool measured(std::size_t i) const { return rates_.known(i); }
  Estimate rate(std::size_t i) const;
  // Variance of ln rate.
  double variance(std::size_t i) const { return rates_.variance_of_mean(i); }
  Estimate busy(std::size_t i) const { return busy_.estimate(i); }
  bool has_busy(std::size_t i) const { return busy_.known(i); }
  std::optional<std::size_t> best() const { return best_; }
  // A lower bound of the probability that the rate of case `i` is at least `share` of that of each
  // other one (Bonferroni: what each leaves open is added up).
  double reaches(std::size_t i, double share) const;
  double reaches_best(std::size_t i, double share) const;  // compares with the best case only
  // The one of the others that leaves that most open; nothing where there is none.
  std::optional<std::size_t> strongest_rival(std::size_t i, double share) const;
  double keeps_busy(std::size_t i, double goal) const;
  // Returns the distance of case `i` from `share` of the best one, or from the goal, in standard
  // deviations. Assumes that both have `runs` runs and that their means stay the same.
  double deviations_from_best(std::size_t i, double share, std::int64_t runs) const;
  double deviations_from_busy(std::size_t i, double goal, std::int64_t runs) const;

 private:
  RoundEffects rates_, busy_;
  std::size_t size_;
  std::optional<std::size_t> best_;
};

}  // namespace loaderscope
