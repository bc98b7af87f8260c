// Division of whole numbers, rounded up.
#pragma once

#include <cstdint>

namespace loaderscope {

// Requires a >= 0 and b > 0. No sum overflows.
constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

}  // namespace loaderscope
