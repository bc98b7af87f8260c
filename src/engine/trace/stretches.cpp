#include "engine/trace/stretches.h"

#include <algorithm>

namespace loaderscope::traces {

Stretch intersect(Stretch a, Stretch b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

namespace {

// Into the first of them, as many as it returns.
template <class Sequence>
std::size_t merge(Sequence& stretches) {
  std::sort(stretches.begin(), stretches.end(),
            [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const Stretch stretch : stretches) {
    if (stretch.length() == 0) continue;
    if (kept > 0 && stretch.begin <= stretches[kept - 1].end) {
      stretches[kept - 1].end = std::max(stretches[kept - 1].end, stretch.end);
    } else {
      stretches[kept++] = stretch;
    }
  }
  return kept;
}

}  // namespace

Stretches merged(Stretches stretches) {
  stretches.resize(merge(stretches));
  return stretches;
}

Stretches merged(std::deque<Stretch> stretches) {
  const auto kept = static_cast<std::ptrdiff_t>(merge(stretches));
  return {stretches.begin(), stretches.begin() + kept};
}

Stretches::const_iterator first_behind(const Stretches& set, Nanos at) {
  return std::partition_point(set.begin(), set.end(),
                              [at](const Stretch& stretch) { return stretch.end <= at; });
}

Nanos covered(const Stretches& set, Stretch within) {
  Nanos sum = 0;
  for (auto at = first_behind(set, within.begin); at != set.end() && at->begin < within.end; ++at)
    sum += intersect(*at, within).length();
  return sum;
}

Nanos take(Stretches& from, const Stretches& set) {
  Nanos taken = 0;
  Stretches left;
  for (const Stretch whole : from) {
    Nanos begin = whole.begin;
    for (auto at = first_behind(set, begin); at != set.end() && at->begin < whole.end; ++at) {
      const Stretch inside = intersect(*at, {begin, whole.end});
      taken += inside.length();
      if (inside.begin > begin) left.push_back({begin, inside.begin});
      begin = inside.end;
    }
    if (begin < whole.end) left.push_back({begin, whole.end});
  }
  from = std::move(left);
  return taken;
}

}  // namespace loaderscope::traces
