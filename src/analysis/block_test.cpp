#include "analysis/block_test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/quantiles.h"

namespace loaderscope {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// A value, the arm and the time, each less its mean over the block.
struct Centred {
  double value = 0, arm = 0, time = 0;
};

std::vector<Centred> centred(std::span<const BlockValue> values, std::int64_t& blocks) {
  std::vector<Centred> all;
  std::map<std::int64_t, std::pair<Centred, double>> sums;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const BlockValue& one = values[i];
    all.push_back({one.value, one.is_second ? 1.0 : 0.0, static_cast<double>(i)});
    auto& [sum, count] = sums[one.block];
    sum.value += all.back().value;
    sum.arm += all.back().arm;
    sum.time += all.back().time;
    ++count;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& [sum, count] = sums[values[i].block];
    all[i].value -= sum.value / count;
    all[i].arm -= sum.arm / count;
    all[i].time -= sum.time / count;
  }
  blocks = std::ssize(sums);
  return all;
}

double product(const std::vector<Centred>& all, double Centred::*x, double Centred::*y) {
  double sum = 0;
  for (const Centred& one : all) sum += one.*x * one.*y;
  return sum;
}

}  // namespace

BlockTest::BlockTest(std::span<const BlockValue> values) {
  std::int64_t blocks = 0;
  std::vector<Centred> all = centred(values, blocks);
  // The arm, and then the value, without what time explains of them.
  const double times = product(all, &Centred::time, &Centred::time);
  if (times <= 0) return;
  const double arm_by_time = product(all, &Centred::arm, &Centred::time) / times;
  const double value_by_time = product(all, &Centred::value, &Centred::time) / times;
  for (Centred& one : all) {
    one.arm -= arm_by_time * one.time;
    one.value -= value_by_time * one.time;
  }
  constexpr double kSmallest = 1e-9;  // both arms in a block make it 0.1 or more
  const double arms = product(all, &Centred::arm, &Centred::arm);
  if (arms < kSmallest) return;
  mean_ = product(all, &Centred::arm, &Centred::value) / arms;
  degrees_ = std::max<std::int64_t>(0, std::ssize(values) - blocks - 2);
  if (degrees_ == 0) return;
  double squares = 0;
  for (const Centred& one : all) {
    const double off = one.value - mean_ * one.arm;
    squares += off * off;
  }
  deviation_ = std::sqrt(squares / static_cast<double>(degrees_));
  error_ = deviation_ / std::sqrt(arms);
  // Rounding leaves a tiny rest in the sums of equal values.
  if (error_ < kSmallest * kSmallest + 1e-12 * std::abs(mean_)) error_ = 0;
  if (std::abs(mean_) < 1e-14) mean_ = 0;
}

BlockTest BlockTest::with_known_deviation(double difference, double deviation,
                                          std::int64_t degrees) {
  BlockTest test{{}};
  test.mean_ = difference;
  test.deviation_ = deviation;
  test.error_ = deviation * std::sqrt(2.0);
  test.degrees_ = degrees;
  return test;
}

Estimate BlockTest::interval(double level) const {
  if (!knows()) return {mean_, -kInfinite, kInfinite};
  const double half = error_ * student_quantile((1 + level) / 2, degrees_);
  return {mean_, mean_ - half, mean_ + half};
}

double BlockTest::p_differs() const {
  if (!knows() || mean_ == 0) return 1;
  if (error_ == 0) return 0;
  return 2 * student_probability(-std::abs(mean_) / error_, degrees_);
}

double BlockTest::p_beyond(double band) const {
  if (!knows()) return 1;
  const double inside = band - std::abs(mean_);
  if (error_ == 0) return inside > 0 ? 0 : 1;
  return student_probability(-inside / error_, degrees_);
}

double BlockTest::least_seen(double alpha, double power) const {
  if (!knows()) return kInfinite;
  return error_ * (student_quantile(1 - alpha / 2, degrees_) + student_quantile(power, degrees_));
}

double BlockTest::more_for(double half_width, double level) const {
  if (!knows() || half_width <= 0) return kInfinite;
  const double wider = interval(level).half_width() / half_width;
  return wider * wider;
}

Estimate mean_with_interval(std::span<const double> values, double level) {
  if (values.empty()) return {0, -kInfinite, kInfinite};
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() < 2) return {mean, -kInfinite, kInfinite};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half =
      student_quantile((1 + level) / 2, std::ssize(values) - 1) * std::sqrt(squares / (n - 1) / n);
  return {mean, mean - half, mean + half};
}

std::vector<double> holm_adjusted(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto tests_left = static_cast<double>(p.size() - i);
    largest = std::max(largest, std::min(1.0, tests_left * p[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

}  // namespace loaderscope
