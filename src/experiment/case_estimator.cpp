#include "experiment/tuner_parts.h"

#include <algorithm>
#include <cmath>

#include "analysis/statistics.h"

namespace loaderscope {
namespace {

constexpr double kMinMargin = 0.02;
constexpr double kMinDeviation = 0.007;    // deviation of runs of one case, on a quiet machine
constexpr double kDecided = 1.7;           // standard deviations from the limit
constexpr double kMedianOfSquare = 0.455;  // median of the square of a normal deviate
constexpr double kMaxMargin = 0.3;
constexpr double kAlike = 0.002;      // rates that differ by less are those of one case
constexpr double kRuledOut = 0.05;    // probability below which a case is no candidate any more
constexpr double kWorkersWeigh = 4;   // against a doubled window, in how far cases are apart
constexpr double kOtherStratum = 16;  // same unit

double doublings(std::int64_t a, std::int64_t b) {
  return std::abs(std::log2(static_cast<double>(a + 1) / static_cast<double>(b + 1)));
}

double distance(const Tune& tune, std::size_t a, std::size_t b) {
  const RunConfig& one = tune.experiment.cases[a].config;
  const RunConfig& other = tune.experiment.cases[b].config;
  const bool apart = tune.candidates[a].stratum != tune.candidates[b].stratum;
  return kWorkersWeigh * doublings(one.loader.num_workers, other.loader.num_workers) +
         doublings(one.loader.prefetch_factor, other.loader.prefetch_factor) +
         (apart ? kOtherStratum : 0);
}

}  // namespace

bool is_possible(const Tune& tune, std::size_t i) {
  return tune.experiment.cases[i].skipped.empty() && tune.candidates[i].refused.empty();
}

std::vector<double> prediction_errors(const Tune& tune, const CaseStatistics& judgement) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    const auto& predicted = tune.candidates[i].predicted;
    if (!predicted || !judgement.measured(i)) continue;
    errors.push_back(std::abs(predicted->samples_per_s / judgement.rate(i).mean - 1));
  }
  return errors;
}

// Returns the error of the predictions that the runs' own noise does not explain.
static double model_error(const Tune& tune, const CaseStatistics& judgement) {
  std::vector<double> squares, noise;
  for (const double error : prediction_errors(tune, judgement)) squares.push_back(error * error);
  for (std::size_t i = 0; i < tune.candidates.size(); ++i) {
    if (judgement.measured(i)) noise.push_back(judgement.variance(i));
  }
  const double variance = find_median(squares) / kMedianOfSquare - find_median(noise);
  return std::clamp(std::sqrt(std::max(0.0, variance)), kMinMargin, kMaxMargin);
}

CaseEstimator::CaseEstimator(const Tune& tune)
    : goal_(tune.goal),
      judgement_(tune.experiment.cases, kMinDeviation),
      rate_(tune.candidates.size()),
      busy_(tune.candidates.size()) {
  margin_ = model_error(tune, judgement_);
  for (std::size_t i = 0; i < rate_.size(); ++i) {
    const Case& one = tune.experiment.cases[i];
    price_.push_back(one.skipped.empty() || !one.runs.empty() ? case_price(one.config) : Price{});
    if (judgement_.measured(i) || is_possible(tune, i)) weigh(tune, i);
  }
  choose();
}

// The nearest measured case says how far the model is off here, as far as that is more than noise.
double CaseEstimator::correction(const Tune& tune, std::size_t i) const {
  double nearest = INFINITY, factor = 0;
  for (std::size_t j = 0; j < rate_.size(); ++j) {
    const auto& other = tune.candidates[j].predicted;
    if (j == i || !judgement_.measured(j) || !other || !(other->samples_per_s > 0)) continue;
    const double apart = distance(tune, i, j);
    if (apart >= nearest) continue;
    nearest = apart;
    const double weight = margin_ * margin_ / (margin_ * margin_ + judgement_.variance(j));
    factor = weight * std::log(judgement_.rate(j).mean / other->samples_per_s);
  }
  return factor;
}

void CaseEstimator::weigh(const Tune& tune, std::size_t i) {
  const auto& predicted = tune.candidates[i].predicted;
  const bool is_predicted = predicted && predicted->samples_per_s > 0;
  const bool is_measured = judgement_.measured(i);
  if (!is_predicted && !is_measured) return;
  double logarithm = is_predicted ? std::log(predicted->samples_per_s) + correction(tune, i) : 0;
  if (is_measured) {
    const double measured = std::log(judgement_.rate(i).mean);
    const double noise = judgement_.variance(i);
    const double weight = is_predicted ? margin_ * margin_ / (margin_ * margin_ + noise) : 1;
    logarithm = weight * measured + (1 - weight) * logarithm;
  }
  rate_[i] = std::exp(logarithm);
  const double busy_of_rate = is_measured && judgement_.has_busy(i)
                                  ? judgement_.busy(i).mean / judgement_.rate(i).mean
                              : is_predicted ? predicted->busy / predicted->samples_per_s
                                             : 0;
  busy_[i] = std::min(1.0, rate_[i] * busy_of_rate);
}

bool CaseEstimator::is_cheaper(std::size_t a, std::size_t b) const {
  return price_[a] != price_[b] ? price_[a] < price_[b] : a < b;
}

void CaseEstimator::choose() {
  double highest = 0;
  for (const double rate : rate_) highest = std::max(highest, rate);
  for (std::size_t i = 0; i < rate_.size(); ++i) {
    if (rate_[i] <= 0 || rate_[i] < highest * (1 - kAlike)) continue;
    if (!best_ || is_cheaper(i, *best_)) best_ = i;
  }
  wanted_ = goal_.busy ? *goal_.busy : goal_.share() * highest;
  for (std::size_t i = 0; i < rate_.size(); ++i) {
    if (rate_[i] <= 0 || !reaches_goal(i)) continue;
    if (judgement_.measured(i) && is_ruled_out(i)) continue;
    if (!cheapest_ || is_cheaper(i, *cheapest_)) cheapest_ = i;
  }
  if (!cheapest_) cheapest_ = best_;
}

// Enough better than all that was seen to make the recommended one fail.
bool CaseEstimator::may_change_the_best(std::size_t i) const {
  return best_ && rate_[i] * (1 + margin_) > rate_[*best_] * (1 + std::max(goal_.within, kAlike));
}

double CaseEstimator::probability(std::size_t i) const {
  if (!judgement_.measured(i)) return 0;
  return goal_.busy ? judgement_.keeps_busy(i, *goal_.busy) : judgement_.reaches(i, goal_.share());
}

double CaseEstimator::chance(std::size_t i) const {
  return goal_.busy ? judgement_.keeps_busy(i, *goal_.busy)
                    : judgement_.reaches_best(i, goal_.share());
}

bool CaseEstimator::is_ruled_out(std::size_t i) const {
  return judgement_.measured(i) && chance(i) < kRuledOut;
}

bool CaseEstimator::can_be_decided(std::size_t i, std::size_t runs) const {
  const auto times = static_cast<std::int64_t>(runs);
  const double deviations = goal_.busy ? judgement_.deviations_from_busy(i, *goal_.busy, times)
                                       : judgement_.deviations_from_best(i, goal_.share(), times);
  return deviations >= kDecided;
}

}  // namespace loaderscope
