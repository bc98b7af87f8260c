// Parts of distributions that the parsers of costs need in addition to cost.h.
#pragma once

#include <string_view>

#include "loaderscope/cost.h"

namespace loaderscope {

using ValueParser = double (*)(std::string_view);

// Returns the z below which a standard normal value lies with probability `u`, 0 < u < 1.
double inverse_normal(double u);

// Parses a distribution. With `is_rate`, the 99th percentile is that of the time, so its rate is
// below the mean rate.
Distribution parse_distribution(std::string_view text, ValueParser parse, bool is_rate);

}  // namespace loaderscope
