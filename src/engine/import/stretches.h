// Sets of stretches of time: in the order of time, none within another.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "engine/import/traced_run.h"

namespace loaderscope::traces {

using Stretches = std::vector<Stretch>;
using Pieces = std::deque<GpuPiece>;

inline Nanos end_of(const Stretch& stretch) { return stretch.end; }
inline Nanos end_of(const GpuPiece& piece) { return piece.begin + piece.length; }

inline Stretch intersect(Stretch a, Stretch b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// Of any order; the empty ones are left out.
Stretches merged(Stretches stretches);
Stretches merged(std::deque<Stretch> stretches);
Pieces merged(Pieces pieces);  // each with the correlation of the first in it

// The first of `set` that ends behind `at`.
template <class Set>
typename Set::const_iterator first_behind(const Set& set, Nanos at) {
  return std::partition_point(set.begin(), set.end(),
                              [at](const auto& one) { return end_of(one) <= at; });
}

template <class Set>
Nanos covered(const Set& set, Stretch within) {
  Nanos sum = 0;
  for (auto at = first_behind(set, within.begin); at != set.end() && at->begin < within.end; ++at)
    sum += intersect({at->begin, end_of(*at)}, within).length();
  return sum;
}

// The part of `from` that `set` covers, which `from` is without afterwards.
template <class Set>
Nanos take(Stretches& from, const Set& set) {
  Nanos taken = 0;
  Stretches left;
  for (const Stretch whole : from) {
    Nanos begin = whole.begin;
    for (auto at = first_behind(set, begin); at != set.end() && at->begin < whole.end; ++at) {
      const Stretch inside = intersect({at->begin, end_of(*at)}, {begin, whole.end});
      taken += inside.length();
      if (inside.begin > begin) left.push_back({begin, inside.begin});
      begin = inside.end;
    }
    if (begin < whole.end) left.push_back({begin, whole.end});
  }
  from = std::move(left);
  return taken;
}

// The part of `stretches` that `set` covers.
template <class Set>
Stretches common(Stretches stretches, const Set& set) {
  Stretches uncovered = stretches;
  take(uncovered, set);
  take(stretches, uncovered);
  return stretches;
}

}  // namespace loaderscope::traces
