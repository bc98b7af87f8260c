#include "bench/native/pairs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace loaderscope::bench {

Interval95 median_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const double half = 0.98 * std::sqrt(n);  // normal approximation of the binomial
  const auto at = [&](double index) {
    return values[static_cast<std::size_t>(std::clamp(index, 0.0, n - 1))];
  };
  const double median = (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2;
  return {median, at(std::floor(n / 2 - half)), at(std::ceil(n / 2 + half) - 1)};
}

Ratios run_pairs(int pairs, const std::function<Rate()>& a, const std::function<Rate()>& b) {
  std::vector<double> wall, cpu;
  std::vector<double> rates[4];
  for (int pair = -1; pair < pairs; ++pair) {
    Rate rate_a, rate_b;
    if (pair % 2 == 0) {
      rate_a = a();
      rate_b = b();
    } else {
      rate_b = b();
      rate_a = a();
    }
    if (pair < 0) continue;  // warm-up
    wall.push_back(rate_a.wall / rate_b.wall);
    cpu.push_back(rate_a.cpu / rate_b.cpu);
    rates[0].push_back(rate_a.wall);
    rates[1].push_back(rate_b.wall);
    rates[2].push_back(rate_a.cpu);
    rates[3].push_back(rate_b.cpu);
  }
  return {median_interval(wall),     median_interval(cpu),      median_interval(rates[0]),
          median_interval(rates[1]), median_interval(rates[2]), median_interval(rates[3])};
}

}  // namespace loaderscope::bench
