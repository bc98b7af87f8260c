#include "experiment/compare/bisect.h"

#include <cmath>

namespace loaderscope::compare {

Suspects bisect(std::int64_t commits, const std::function<Side(std::int64_t)>& look) {
  Suspects left{-1, commits - 1};
  while (!left.is_one()) {
    const std::int64_t middle = left.good + (left.bad - left.good) / 2;
    switch (look(middle)) {
      case Side::good:
        left.good = middle;
        break;
      case Side::bad:
        left.bad = middle;
        break;
      case Side::unknown:
        return left;
    }
  }
  return left;
}

Side side_of(const Judgement& of_commit, const Difference& whole) {
  const Difference* one = of_commit.find(whole.name);
  if (one == nullptr) return Side::unknown;
  const double half = whole.change.mean / 2;
  const bool all_below = one->change.high<half, all_above = one->change.low> half;
  if (!all_below && !all_above) return Side::unknown;
  return all_above == (half > 0) ? Side::bad : Side::good;
}

std::int64_t looks_for(std::int64_t commits) {
  std::int64_t looks = 0;
  while ((std::int64_t{1} << looks) < commits) ++looks;
  return looks;
}

}  // namespace loaderscope::compare
