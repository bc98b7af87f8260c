// Arithmetic of whole numbers.
#pragma once

#include <cstdint>
#include <limits>

namespace loaderscope {

// Requires a >= 0 and b > 0. No sum overflows.
constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

// Sums and products of non-negative numbers, limited to the largest number.
inline std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max()
                                                : product;
}

inline std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

}  // namespace loaderscope
