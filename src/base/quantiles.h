// Quantiles of samples and of distributions.
#pragma once

#include <cstdint>
#include <vector>

namespace loaderscope {

double median_of(std::vector<double> values);  // 0 of none

// Of Student's distribution with so many degrees of freedom, at least 1: below which value the
// share p of it lies, and which share lies below t.
double student_quantile(double p, std::int64_t degrees);
double student_probability(double t, std::int64_t degrees);

}  // namespace loaderscope
