// The level of each subject from repeated measurements in rounds. The common effect of a round,
// which comes from the machine, is removed if rounds explain most of the variation. The remaining
// variation is pooled over all subjects.
#pragma once

#include <cstdint>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

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

}  // namespace loaderscope
