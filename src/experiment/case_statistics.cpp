#include "experiment/case_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analysis/statistics.h"
#include "experiment/settings.h"

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

int count_rounds(const std::vector<Observation>& observations) {
  int rounds = 0;
  for (const Observation& o : observations) rounds = std::max(rounds, o.round + 1);
  return rounds;
}

constexpr double kWithin = 0.03;  // share of the best rate: as good as the best

double interval_variance(double low, double high) {
  const double deviation = (high - low) / (2 * 1.96);
  return deviation * deviation;
}

std::vector<Observation> observe_rates(const std::vector<Case>& cases, double least_deviation) {
  std::vector<Observation> all;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const CaseRun& run : cases[i].runs) {
      const Estimate& rate = run.samples_per_s;
      if (!(rate.mean > 0)) continue;
      const double low = std::log(std::max(rate.low, rate.mean / 10));
      const double variance = interval_variance(low, std::log(std::max(rate.high, rate.mean)));
      all.push_back({i, run.round, std::log(rate.mean),
                     std::max(variance, least_deviation * least_deviation)});
    }
  }
  return all;
}

std::vector<Observation> busy_of_runs(const std::vector<Case>& cases, double least_deviation) {
  std::vector<Observation> all;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const CaseRun& run : cases[i].runs) {
      if (!run.has_busy) continue;
      const double least = least_deviation * run.busy.mean;
      all.push_back({i, run.round, run.busy.mean,
                     std::max(interval_variance(run.busy.low, run.busy.high), least * least)});
    }
  }
  return all;
}

// Returns infinity if nothing varies.
double deviations(double distance, double variance) {
  return variance > 0 ? std::abs(distance) / std::sqrt(variance)
                      : std::numeric_limits<double>::infinity();
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
  const int rounds = count_rounds(observations);
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
  std::vector<double> round_counts(round_.size());
  for (const Observation& o : observations) round_counts[static_cast<std::size_t>(o.round)] += 1;
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
      round_[r] += (o.value - level_[o.subject]) / (round_counts[r] + kDoubt);
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
  const double run_variance = pooled_is_firm ? pooled_ : std::max(pooled_, within_[subject]);
  return run_variance / static_cast<double>(times);
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

CaseStatistics::CaseStatistics(const std::vector<Case>& cases, double least_deviation)
    : rates_(cases.size(), observe_rates(cases, least_deviation)),
      busy_(cases.size(), busy_of_runs(cases, least_deviation)),
      size_(cases.size()) {
  for (std::size_t i = 0; i < size_; ++i) {
    if (measured(i) && (!best_ || rates_.level(i) > rates_.level(*best_) + 1e-9)) best_ = i;
  }
}

Estimate CaseStatistics::rate(std::size_t i) const {
  const Estimate logarithm = rates_.estimate(i);
  return {std::exp(logarithm.mean), std::exp(logarithm.low), std::exp(logarithm.high)};
}

double CaseStatistics::reaches(std::size_t i, double share) const {
  double open = 0;
  for (std::size_t j = 0; j < size_; ++j) {
    if (j != i && measured(j)) open += 1 - rates_.probability(i, j, std::log(share));
  }
  return std::max(0.0, 1 - open);
}

std::optional<std::size_t> CaseStatistics::strongest_rival(std::size_t i, double share) const {
  std::optional<std::size_t> rival;
  double least = 1;
  for (std::size_t j = 0; j < size_; ++j) {
    if (j == i || !measured(j)) continue;
    const double sure = rates_.probability(i, j, std::log(share));
    if (sure >= least) continue;
    least = sure;
    rival = j;
  }
  return rival;
}

double CaseStatistics::reaches_best(std::size_t i, double share) const {
  return !best_ || i == *best_ ? 1 : rates_.probability(i, *best_, std::log(share));
}

double CaseStatistics::keeps_busy(std::size_t i, double goal) const {
  return has_busy(i) ? busy_.probability(i, goal) : 0;
}

double CaseStatistics::deviations_from_best(std::size_t i, double share, std::int64_t runs) const {
  const double distance = rates_.level(i) - rates_.level(*best_) - std::log(share);
  return deviations(distance,
                    rates_.variance_of_mean(i, runs) + rates_.variance_of_mean(*best_, runs));
}

double CaseStatistics::deviations_from_busy(std::size_t i, double goal, std::int64_t runs) const {
  return deviations(busy_.level(i) - goal, busy_.variance_of_mean(i, runs));
}

SweepAnswer judge_sweep(const Experiment& experiment) {
  const std::vector<Case>& cases = experiment.cases;
  const CaseStatistics judgement(cases);
  SweepAnswer answer;
  answer.best = judgement.best();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    answer.rate.emplace_back();
    answer.busy.emplace_back();
    if (judgement.measured(i)) answer.rate.back() = judgement.rate(i);
    if (judgement.has_busy(i)) answer.busy.back() = judgement.busy(i);
  }
  const bool priced = std::any_of(experiment.axes.begin(), experiment.axes.end(), has_price);
  if (!answer.best || !priced) return answer;
  const double enough = (1 - kWithin) * answer.rate[*answer.best]->mean;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!answer.rate[i]) continue;
    // An uncertain rate could reach everything, so the mean limits it.
    const double reached = std::min(answer.rate[i]->high, (1 + kWithin) * answer.rate[i]->mean);
    if (reached < enough) continue;
    if (!answer.knee || case_price(cases[i].config) < case_price(cases[*answer.knee].config))
      answer.knee = i;
  }
  return answer;
}

}  // namespace loaderscope
