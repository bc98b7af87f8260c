// Quantiles of samples and of distributions.
#pragma once

#include <cstdint>
#include <vector>

namespace loaderscope {

double find_median(std::vector<double> values);  // 0 without values

// Student's distribution with `degrees` degrees of freedom, at least 1: the value below which the
// share `p` lies, and the share that lies below `t`.
double student_quantile(double p, std::int64_t degrees);
double student_probability(double t, std::int64_t degrees);

}  // namespace loaderscope
