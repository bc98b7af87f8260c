// Reads the parameters of an operation: values between colons, a value being a number or a range
// MIN..MAX.
#pragma once

#include <string_view>
#include <vector>

#include "augment/draws.h"

namespace loaderscope::augment {

// The pieces between colons; none for "". Throws ValueError when there are more than `most`.
std::vector<std::string_view> split_parameters(std::string_view text, std::size_t most);

// A number within `allowed`, which may be negative. `what` names it in the ValueError.
double parse_number(std::string_view text, std::string_view what, Range allowed);

// MIN..MAX, both within `allowed` and in that order.
Range parse_range(std::string_view text, std::string_view what, Range allowed);

// MIN..MAX, or D for centre - D .. centre + D cut to `allowed`.
Range parse_spread(std::string_view text, std::string_view what, double centre, Range allowed);

}  // namespace loaderscope::augment
