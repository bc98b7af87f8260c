// Finds the first of several commits that is slower.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiment/compare/compare.h"

namespace loaderscope::compare {

enum class CommitState : std::uint8_t { good, bad, unknown };

// The rest of commits 0 .. n - 1 in the order of time, of which the last is bad. The first bad one
// is in (good, bad]. good = -1: no commit is known to be good.
struct SuspectRange {
  std::int64_t good = -1, bad = 0;

  bool is_one() const { return bad == good + 1; }
};
// Looks at one in the middle, and ends where a look says nothing.
SuspectRange bisect(std::int64_t commits, const std::function<CommitState(std::int64_t)>& look);

// Nearer to the good end or to the bad one, of which `whole` is the difference that is searched:
// where chance does not leave both open.
CommitState side_of(const ComparisonResult& of_commit, const Difference& whole);

// Returns the largest number of calls of `look`.
std::int64_t looks_for(std::int64_t commits);

}  // namespace loaderscope::compare
