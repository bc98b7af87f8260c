#include "experiment/case_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "experiment/settings.h"

namespace loaderscope {
namespace {

constexpr double kWithin = 0.03;  // share of the best rate: as good as the best

double variance_of(double low, double high) {
  const double deviation = (high - low) / (2 * 1.96);
  return deviation * deviation;
}

std::vector<Observation> rates_of(const std::vector<Case>& cases, double least_deviation) {
  std::vector<Observation> all;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const CaseRun& run : cases[i].runs) {
      const Estimate& rate = run.samples_per_s;
      if (!(rate.mean > 0)) continue;
      const double low = std::log(std::max(rate.low, rate.mean / 10));
      const double variance = variance_of(low, std::log(std::max(rate.high, rate.mean)));
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
                     std::max(variance_of(run.busy.low, run.busy.high), least * least)});
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

CaseStatistics::CaseStatistics(const std::vector<Case>& cases, double least_deviation)
    : rates_(cases.size(), rates_of(cases, least_deviation)),
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
    if (!answer.knee || price_of(cases[i].config) < price_of(cases[*answer.knee].config))
      answer.knee = i;
  }
  return answer;
}

}  // namespace loaderscope
