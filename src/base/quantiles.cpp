#include "base/quantiles.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace loaderscope {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Acklam's rational approximation, relative error below 1.2e-9.
double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);
  if (p < 0.02425) {
    const double q = std::sqrt(-2 * std::log(p));
    return (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838) * q -
              2.549732539343734) *
                 q +
             4.374664141464968) *
                q +
            2.938163982698783) /
           ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996) * q +
             3.754408661907416) *
                q +
            1);
  }
  const double q = p - 0.5;
  const double r = q * q;
  return (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
            1.383577518672690e+02) *
               r -
           3.066479806614716e+01) *
              r +
          2.506628277459239) *
         q /
         (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
            6.680131188771972e+01) *
               r -
           1.328068155288572e+01) *
              r +
          1);
}

// Exact for one and two degrees; from three on the Cornish-Fisher expansion, off by less than 1 %
// at 95 %.
double student_quantile(double p, std::int64_t degrees) {
  if (degrees <= 1) return std::tan(std::numbers::pi * (p - 0.5));
  if (degrees == 2) return (2 * p - 1) / std::sqrt(2 * p * (1 - p));
  const double z = normal_quantile(p);
  const auto n = static_cast<double>(degrees);
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

}  // namespace loaderscope
