#include "base/quantiles.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/distribution.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMostExact = 400;  // beyond it series are long, and approximations good

// The share between -t and t (Abramowitz and Stegun 26.7.3 and 26.7.4); below 0 for negative t.
double within(double t, std::int64_t degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle), square = cosine * cosine;
  const bool odd = degrees % 2 == 1;
  if (degrees == 1) return 2 * angle / std::numbers::pi;
  double term = odd ? cosine : 1, sum = term;
  for (std::int64_t i = odd ? 3 : 2; i < degrees; i += 2) {
    term *= square * static_cast<double>(i - 1) / static_cast<double>(i);
    sum += term;
  }
  const double series = std::sin(angle) * sum;
  return odd ? 2 / std::numbers::pi * (angle + series) : series;
}

double density(double t, std::int64_t degrees) {
  const auto n = static_cast<double>(degrees);
  // Gamma((n + 1) / 2) / Gamma(n / 2), from n = 1 or 2 on.
  double ratio =
      degrees % 2 == 1 ? 1 / std::sqrt(std::numbers::pi) : std::sqrt(std::numbers::pi) / 2;
  for (std::int64_t i = degrees % 2 == 1 ? 1 : 2; i < degrees; i += 2)
    ratio *= static_cast<double>(i + 1) / static_cast<double>(i);
  return ratio / std::sqrt(n * std::numbers::pi) * std::pow(1 + t * t / n, -(n + 1) / 2);
}

// Cornish and Fisher's expansion.
double expanded_quantile(double p, std::int64_t degrees) {
  const double z = inverse_normal(p);
  const auto n = static_cast<double>(degrees);
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double student_quantile(double p, std::int64_t degrees) {
  constexpr int kMostSteps = 60;
  if (degrees > kMostExact) return expanded_quantile(p, degrees);
  if (degrees <= 1) return std::tan(std::numbers::pi * (p - 0.5));
  if (p < 0.5) return -student_quantile(1 - p, degrees);
  // Newton's method comes from below, where the distribution is concave.
  double t = 0;
  for (int i = 0; i < kMostSteps; ++i) {
    const double step = (p - student_probability(t, degrees)) / density(t, degrees);
    t += step;
    if (std::abs(step) <= 1e-12 * std::max(1.0, t)) break;
  }
  return t;
}

double student_probability(double t, std::int64_t degrees) {
  const auto n = static_cast<double>(degrees);
  if (degrees > kMostExact) {  // Abramowitz and Stegun 26.7.8: off by less than 1e-6
    const double z = t * (1 - 1 / (4 * n)) / std::sqrt(1 + t * t / (2 * n));
    return 0.5 * std::erfc(-z / std::sqrt(2.0));
  }
  return (1 + within(t, degrees)) / 2;
}

}  // namespace loaderscope
