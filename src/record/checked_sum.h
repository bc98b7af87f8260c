// Sums that fail instead of overflowing.
#pragma once

#include <cstdint>

#include "loaderscope/errors.h"

namespace loaderscope {

inline void add_checked(std::int64_t& total, std::int64_t value, std::int64_t times = 1) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(value, times, &product) ||
      __builtin_add_overflow(total, product, &total)) {
    throw RunError("a total of the run passes 2^63 (292 years in ns, 8 EiB)",
                   "declare smaller costs and sizes, or measure fewer steps");
  }
}

}  // namespace loaderscope
