#include "bench/native/pairs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace loaderscope::bench {

Interval95 median_of(std::vector<double> values) {
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
    Rate of_a, of_b;
    if (pair % 2 == 0) {
      of_a = a();
      of_b = b();
    } else {
      of_b = b();
      of_a = a();
    }
    if (pair < 0) continue;  // warm-up
    wall.push_back(of_a.wall / of_b.wall);
    cpu.push_back(of_a.cpu / of_b.cpu);
    rates[0].push_back(of_a.wall);
    rates[1].push_back(of_b.wall);
    rates[2].push_back(of_a.cpu);
    rates[3].push_back(of_b.cpu);
  }
  return {median_of(wall),     median_of(cpu),      median_of(rates[0]),
          median_of(rates[1]), median_of(rates[2]), median_of(rates[3])};
}

}  // namespace loaderscope::bench
