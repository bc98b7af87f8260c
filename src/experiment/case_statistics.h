// Statistics of the cases of an experiment, from their runs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "loaderscope/analysis.h"
#include "loaderscope/experiment.h"

namespace loaderscope {

// The level of each subject from repeated measurements in rounds. The common effect of a round,
// which comes from the machine, is removed if rounds explain most of the variation. The remaining
// variation is pooled over all subjects.
struct Observation {
  std::size_t subject = 0;
  int round = 0;
  double value = 0;
  double variance = 0;  // variance in the run
};

class RoundEffects {
 public:
  RoundEffects(std::size_t subjects, std::vector<Observation> observations);

  bool known(std::size_t subject) const { return count_[subject] > 0; }
  double level(std::size_t subject) const { return level_[subject]; }
  double variance_of_mean(std::size_t subject) const;
  // Returns the same for `times` measurements of the subject.
  double variance_of_mean(std::size_t subject, std::int64_t times) const;
  Estimate estimate(std::size_t subject) const;  // level with its 95 % interval
  // P(level of `a` >= level of `b` + offset), 0 or 1 where nothing varies.
  double probability(std::size_t a, std::size_t b, double offset) const;
  // P(level of `a` >= limit).
  double probability(std::size_t a, double limit) const;

 private:
  void fit(const std::vector<Observation>& observations, int sweeps);
  double squares(const std::vector<Observation>& observations) const;  // sum of the squares that
                                                                       // the fit does not explain
  void measure_spread(const std::vector<Observation>& observations, std::int64_t effects);
  double probability_above_zero(double difference, double variance) const;

  std::vector<double> level_, within_;  // within_: the mean variance within the subject's runs
  std::vector<std::int64_t> count_;
  std::vector<double> round_;  // common effect of each round's runs
  double pooled_ = 0;          // variance of a run about its level and round
  std::int64_t degrees_ = 1;
};

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
