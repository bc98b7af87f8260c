// What the parsers of costs need of distributions beyond the contract in cost.h.
#pragma once

#include <string_view>

#include "loaderscope/cost.h"

namespace loaderscope {

using ValueParser = double (*)(std::string_view);

// The z below which a standard normal draw falls with probability `u`, 0 < u < 1.
double inverse_normal(double u);

// With `is_rate` the 99th percentile is that of the time: a rate below the mean one.
Distribution parse_distribution(std::string_view text, ValueParser parse, bool is_rate);

}  // namespace loaderscope
