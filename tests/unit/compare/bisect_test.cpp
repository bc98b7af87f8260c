#include "experiment/compare/commits.h"

#include <gtest/gtest.h>

namespace loaderscope::compare {
namespace {

TEST(Bisect, FindsTheFirstBadOneOfAnyNumber) {
  for (std::int64_t commits = 1; commits <= 40; ++commits) {
    for (std::int64_t first = 0; first < commits; ++first) {
      std::int64_t looks = 0;
      const SuspectRange found = bisect(commits, [&](std::int64_t i) {
        ++looks;
        return i < first ? CommitState::good : CommitState::bad;
      });
      EXPECT_TRUE(found.is_one());
      EXPECT_EQ(found.bad, first);
      EXPECT_LE(looks, looks_for(commits)) << commits;
    }
  }
}

TEST(Bisect, EndsWhereALookSaysNothing) {
  const SuspectRange left =
      bisect(16, [](std::int64_t i) { return i == 7 ? CommitState::good : CommitState::unknown; });
  EXPECT_EQ(left.good, 7);
  EXPECT_EQ(left.bad, 15);
  EXPECT_FALSE(left.is_one());
}

ComparisonResult with(double mean, double half_width) {
  Difference one;
  one.name = "decode";
  one.change = {mean, mean - half_width, mean + half_width};
  ComparisonResult judgement;
  judgement.differences.push_back(one);
  return judgement;
}

TEST(Bisect, AssignsCommitToNearerSide) {
  const Difference slower = with(0.10, 0.01).differences.front();
  EXPECT_EQ(classify_commit(with(0.09, 0.02), slower), CommitState::bad);
  EXPECT_EQ(classify_commit(with(0.01, 0.02), slower), CommitState::good);
  EXPECT_EQ(classify_commit(with(0.05, 0.02), slower), CommitState::unknown);
  EXPECT_EQ(classify_commit({}, slower), CommitState::unknown);
  const Difference fewer = with(-0.10, 0.01).differences.front();  // a rate that fell
  EXPECT_EQ(classify_commit(with(-0.09, 0.02), fewer), CommitState::bad);
  EXPECT_EQ(classify_commit(with(0.01, 0.02), fewer), CommitState::good);
}

}  // namespace
}  // namespace loaderscope::compare
