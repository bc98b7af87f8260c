// Whole numbers, divided so that nothing is left over.
#pragma once

#include <cstdint>

namespace loaderscope {

// `a` is not negative, `b` is positive; no sum overflows.
constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

}  // namespace loaderscope
