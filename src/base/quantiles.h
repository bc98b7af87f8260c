// Quantiles of samples and of distributions.
#pragma once

#include <cstdint>
#include <vector>

namespace loaderscope {

double median_of(std::vector<double> values);  // 0 of none

double normal_quantile(double p);                         // 0 < p < 1
double student_quantile(double p, std::int64_t degrees);  // 0 < p < 1, degrees >= 1

}  // namespace loaderscope
