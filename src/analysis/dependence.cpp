#include "analysis/dependence.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace loaderscope {
namespace {

constexpr std::int64_t kMinCount = 8;  // values; shorter series count as independent
constexpr double kMaxCorrelation = 0.999;
constexpr double kAlike = 1e-12;  // variance of values that differ by how they were rounded

// Returns the autocovariances of lags 0 to `most`, each divided by n.
std::vector<double> autocovariances(std::span<const double> values, std::int64_t most) {
  const std::int64_t n = std::ssize(values);
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(n);
  std::vector<double> centred(values.begin(), values.end());
  for (double& value : centred) value -= mean;
  std::vector<double> sums(static_cast<std::size_t>(most) + 1);
  for (std::int64_t k = 0; k <= most; ++k) {
    double sum = 0;
    for (std::int64_t i = 0; i + k < n; ++i)
      sum += centred[static_cast<std::size_t>(i)] * centred[static_cast<std::size_t>(i + k)];
    sums[static_cast<std::size_t>(k)] = sum / static_cast<double>(n);
  }
  return sums;
}

// Returns the last lag that is followed by `run` lags whose correlation may be chance.
std::int64_t last_lag(const std::vector<double>& covariance, double chance, std::int64_t run,
                      std::int64_t most) {
  std::int64_t last = 0;
  for (std::int64_t k = 1; k <= most; ++k) {
    if (std::abs(covariance[static_cast<std::size_t>(k)]) >= chance * covariance[0]) last = k;
    if (k - last >= run) return last;
  }
  return last;
}

double flat_top(double x) { return x <= 0.5 ? 1 : 2 * (1 - x); }

}  // namespace

double Dependence::memory() const { return correlation > 0 ? -1 / std::log(correlation) : 0; }

double Dependence::unseen_by_blocks(std::int64_t length) const {
  double seen = 1, power = 1;
  for (std::int64_t k = 1; k < length && power > 1e-9; ++k) {
    power *= correlation;
    seen += 2 * (1 - static_cast<double>(k) / static_cast<double>(length)) * power;
  }
  return std::sqrt((1 + correlation) / (1 - correlation) / seen);
}

Dependence measure_dependence(std::span<const double> values) {
  Dependence found;
  const std::int64_t count = std::ssize(values);
  if (count < kMinCount) return found;
  const auto n = static_cast<double>(count);
  const std::int64_t run = 5;
  const auto root = static_cast<std::int64_t>(std::ceil(std::sqrt(n)));
  const std::int64_t most = std::min(count - 1, root + run);
  const std::vector<double> covariance = autocovariances(values, std::min(count - 1, 2 * most));
  if (!(covariance[0] > kAlike)) return found;
  const double chance = 2 * std::sqrt(std::log10(n) / n);
  const double first = covariance[1] / covariance[0];
  // The estimate is too small for short series; this corrects its bias.
  if (first > chance) found.correlation = std::min(kMaxCorrelation, (n * first + 1) / (n - 3));
  const std::int64_t bandwidth =
      std::min<std::int64_t>(2 * std::max<std::int64_t>(1, last_lag(covariance, chance, run, most)),
                             std::ssize(covariance) - 1);
  double variance = covariance[0], slope = 0;
  for (std::int64_t k = 1; k <= bandwidth; ++k) {
    const double weighed = 2 * covariance[static_cast<std::size_t>(k)] *
                           flat_top(static_cast<double>(k) / static_cast<double>(bandwidth));
    variance += weighed;
    slope += static_cast<double>(k) * weighed;
  }
  if (variance <= covariance[0] || slope <= 0)
    return {};  // a rhythm: what is late comes early again
  found.block = std::max(1.0, std::cbrt(1.5 * slope * slope / (variance * variance) * n));
  return found;
}

}  // namespace loaderscope
