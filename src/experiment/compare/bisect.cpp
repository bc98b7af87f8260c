#include "experiment/compare/bisect.h"

#include <cmath>

namespace loaderscope::compare {

SuspectRange bisect(std::int64_t commits, const std::function<CommitState(std::int64_t)>& look) {
  SuspectRange left{-1, commits - 1};
  while (!left.is_one()) {
    const std::int64_t middle = left.good + (left.bad - left.good) / 2;
    switch (look(middle)) {
      case CommitState::good:
        left.good = middle;
        break;
      case CommitState::bad:
        left.bad = middle;
        break;
      case CommitState::unknown:
        return left;
    }
  }
  return left;
}

CommitState side_of(const ComparisonResult& of_commit, const Difference& whole) {
  const Difference* one = of_commit.find(whole.name);
  if (one == nullptr) return CommitState::unknown;
  const double half = whole.change.mean / 2;
  const bool all_below = one->change.high<half, all_above = one->change.low> half;
  if (!all_below && !all_above) return CommitState::unknown;
  return all_above == (half > 0) ? CommitState::bad : CommitState::good;
}

std::int64_t looks_for(std::int64_t commits) {
  std::int64_t looks = 0;
  while ((std::int64_t{1} << looks) < commits) ++looks;
  return looks;
}

}  // namespace loaderscope::compare
