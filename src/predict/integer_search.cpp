#include "predict/integer_search.h"

#include <algorithm>

namespace loaderscope {

std::optional<std::int64_t> smallest_sufficient(
    const Bounds& bounds, const std::function<bool(std::int64_t)>& is_enough) {
  if (bounds.most <= bounds.low) return std::nullopt;
  std::int64_t low = bounds.low;
  std::int64_t high = std::clamp(bounds.first, low + 1, bounds.most);
  while (!is_enough(high)) {
    if (high == bounds.most) return std::nullopt;
    low = high;
    high = high > bounds.most / 2 ? bounds.most : 2 * high;
  }
  const auto is_near = [&] {
    return static_cast<double>(high - low) <= bounds.slack * static_cast<double>(high);
  };
  while (high - low > 1 && !is_near()) {
    const std::int64_t middle = low + (high - low) / 2;
    (is_enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace loaderscope
