#include "experiment/round_effects.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics.h"

namespace loaderscope {
namespace {

constexpr int kSweeps = 50;        // limit of alternating means; converges long before
constexpr double kExplains = 0.5;  // share of the squares that rounds must leave at most to explain
                                   // most of them
// Weight of the assumption that rounds are alike, in runs per round. A round of one or two runs is
// not reliable alone.
constexpr double kDoubt = 1;
// With fewer degrees of freedom than this the variance within runs, of many steps, carries it.
constexpr std::int64_t kMinDegrees = 5;

int rounds_of(const std::vector<Observation>& observations) {
  int rounds = 0;
  for (const Observation& o : observations) rounds = std::max(rounds, o.round + 1);
  return rounds;
}

}  // namespace

RoundEffects::RoundEffects(std::size_t subjects, std::vector<Observation> observations)
    : level_(subjects), within_(subjects), count_(subjects) {
  for (const Observation& o : observations) {
    ++count_[o.subject];
    within_[o.subject] += o.variance;
  }
  for (std::size_t i = 0; i < subjects; ++i)
    within_[i] /= static_cast<double>(std::max<std::int64_t>(1, count_[i]));
  const int rounds = rounds_of(observations);
  round_.assign(static_cast<std::size_t>(rounds), 0);
  fit(observations, 0);
  const double without_rounds = squares(observations);
  if (rounds > 1) fit(observations, kSweeps);
  const bool rounds_explain = squares(observations) < kExplains * without_rounds;
  if (!rounds_explain) {
    std::fill(round_.begin(), round_.end(), 0);
    fit(observations, 0);
  }
  measure_spread(observations, rounds_explain ? rounds - 1 : 0);
}

// Fits levels, and then effects of the rounds and levels in alternation.
void RoundEffects::fit(const std::vector<Observation>& observations, int sweeps) {
  std::vector<double> in_round(round_.size());
  for (const Observation& o : observations) in_round[static_cast<std::size_t>(o.round)] += 1;
  for (int sweep = 0; sweep <= sweeps; ++sweep) {
    std::fill(level_.begin(), level_.end(), 0);
    for (const Observation& o : observations) {
      level_[o.subject] += (o.value - round_[static_cast<std::size_t>(o.round)]) /
                           static_cast<double>(count_[o.subject]);
    }
    if (sweep == sweeps) return;
    std::fill(round_.begin(), round_.end(), 0);
    for (const Observation& o : observations) {
      const auto r = static_cast<std::size_t>(o.round);
      round_[r] += (o.value - level_[o.subject]) / (in_round[r] + kDoubt);
    }
  }
}

double RoundEffects::squares(const std::vector<Observation>& observations) const {
  double sum = 0;
  for (const Observation& o : observations) {
    const double rest = o.value - level_[o.subject] - round_[static_cast<std::size_t>(o.round)];
    sum += rest * rest;
  }
  return sum;
}

void RoundEffects::measure_spread(const std::vector<Observation>& observations,
                                  std::int64_t effects) {
  const auto subjects = std::count_if(count_.begin(), count_.end(), [](auto n) { return n > 0; });
  const std::int64_t degrees = static_cast<std::int64_t>(observations.size()) - subjects - effects;
  if (degrees > 0) pooled_ = squares(observations) / static_cast<double>(degrees);
  degrees_ = std::max(degrees, kMinDegrees);
}

// Rounds see the same samples, so that what is pooled over them, once there is enough of it, may be
// less than what a run sees within itself.
double RoundEffects::variance_of_mean(std::size_t subject) const {
  return variance_of_mean(subject, count_[subject]);
}

double RoundEffects::variance_of_mean(std::size_t subject, std::int64_t times) const {
  const bool pooled_is_firm = degrees_ > kMinDegrees;
  const double of_run = pooled_is_firm ? pooled_ : std::max(pooled_, within_[subject]);
  return of_run / static_cast<double>(times);
}

Estimate RoundEffects::estimate(std::size_t subject) const {
  const double half = student_quantile(0.975, degrees_) * std::sqrt(variance_of_mean(subject));
  return {level_[subject], level_[subject] - half, level_[subject] + half};
}

double RoundEffects::probability_above_zero(double difference, double variance) const {
  constexpr double kRounding = 1e-9;
  if (variance <= 0) return difference >= -kRounding ? 1 : 0;
  return student_probability(difference / std::sqrt(variance), degrees_);
}

double RoundEffects::probability(std::size_t a, std::size_t b, double offset) const {
  return probability_above_zero(level_[a] - level_[b] - offset,
                                variance_of_mean(a) + variance_of_mean(b));
}

double RoundEffects::probability(std::size_t a, double limit) const {
  return probability_above_zero(level_[a] - limit, variance_of_mean(a));
}

}  // namespace loaderscope
