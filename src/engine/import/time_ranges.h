// Sets of time ranges: in the order of time, none within another.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "engine/import/traced_run.h"

namespace loaderscope::traces {

using TimeRanges = std::vector<TimeRange>;
using Pieces = std::deque<GpuPiece>;

inline Nanos range_end(const TimeRange& range) { return range.end; }
inline Nanos range_end(const GpuPiece& piece) { return piece.begin + piece.length; }

// Accepts any order and drops empty ranges.
TimeRanges merged(TimeRanges ranges);
TimeRanges merged(std::deque<TimeRange> ranges);
Pieces merged(Pieces pieces);  // each with the correlation of the first in it

// Returns the first element of `set` that ends after `at`.
template <class Set>
typename Set::const_iterator find_later(const Set& set, Nanos at) {
  return std::partition_point(set.begin(), set.end(),
                              [at](const auto& one) { return range_end(one) <= at; });
}

template <class Set>
Nanos covered(const Set& set, TimeRange within) {
  Nanos sum = 0;
  for (auto at = find_later(set, within.begin); at != set.end() && at->begin < within.end; ++at)
    sum += intersect({at->begin, range_end(*at)}, within).length();
  return sum;
}

// The part of `from` that `set` covers, which `from` is without afterwards.
template <class Set>
Nanos take(TimeRanges& from, const Set& set) {
  Nanos taken = 0;
  TimeRanges left;
  for (const TimeRange whole : from) {
    Nanos begin = whole.begin;
    for (auto at = find_later(set, begin); at != set.end() && at->begin < whole.end; ++at) {
      const TimeRange inside = intersect({at->begin, range_end(*at)}, {begin, whole.end});
      taken += inside.length();
      if (inside.begin > begin) left.push_back({begin, inside.begin});
      begin = inside.end;
    }
    if (begin < whole.end) left.push_back({begin, whole.end});
  }
  from = std::move(left);
  return taken;
}

// The part of `ranges` that `set` covers.
template <class Set>
TimeRanges common(TimeRanges ranges, const Set& set) {
  TimeRanges uncovered = ranges;
  take(uncovered, set);
  take(ranges, uncovered);
  return ranges;
}

}  // namespace loaderscope::traces
