// Search for the smallest sufficient whole number.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace loaderscope {

// Range of the search: above `low` and up to `most`, with `first` tried before all others. The
// answer may exceed the smallest by the share `slack`.
struct Bounds {
  std::int64_t low = 0, first = 1, most = 1;
  double slack = 0;
};

// Returns the smallest sufficient number; all larger numbers must suffice too. Doubles it until it
// suffices, then halves the range. Returns nothing if `most` does not suffice.
std::optional<std::int64_t> smallest_sufficient(const Bounds& bounds,
                                                const std::function<bool(std::int64_t)>& is_enough);

}  // namespace loaderscope
