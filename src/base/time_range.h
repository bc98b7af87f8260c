// A time range, and the intersection of two.
#pragma once

#include <algorithm>

#include "loaderscope/units.h"

namespace loaderscope {

// Half-open: [begin, end). Empty if it ends no later than it begins.
struct TimeRange {
  Nanos begin = 0;
  Nanos end = 0;

  bool empty() const { return end <= begin; }
  Nanos length() const { return empty() ? 0 : end - begin; }
  bool operator==(const TimeRange&) const = default;
};

inline TimeRange intersect(TimeRange a, TimeRange b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

}  // namespace loaderscope
