// Ranks that the others wait for.
#include "analysis/stragglers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loaderscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Account> waiting_ranks(const std::vector<double>& shares) {
  std::vector<Account> ranks;
  for (const double share : shares) {
    Account& rank = ranks.emplace_back();
    rank.window = kSecond;
    rank.waiting_for_ranks = static_cast<Nanos>(share * 1e9);
  }
  return ranks;
}

TEST(Stragglers, FindsRanksThatWaitLeast) {
  EXPECT_THAT(stragglers(waiting_ranks({0.7, 0, 0.7, 0.6})), ElementsAre(1));
  EXPECT_THAT(stragglers(waiting_ranks({0.4, 0.1, 0.3, 0.35})), ElementsAre(1));
  EXPECT_THAT(stragglers(waiting_ranks({0.05, 0})), ElementsAre(1));
}

TEST(Stragglers, NamesAllSlowRanksUnlessMostAreSlow) {
  EXPECT_THAT(stragglers(waiting_ranks({0.7, 0, 0, 0.7})), ElementsAre(1, 2));
  EXPECT_THAT(stragglers(waiting_ranks({0.7, 0, 0.002, 0.7})), ElementsAre(1, 2))
      << "but for noise";
  EXPECT_THAT(stragglers(waiting_ranks({0, 0, 0.7})), IsEmpty()) << "most are slow";
}

TEST(Stragglers, NamesNoneWhenAllRanksWait) {
  EXPECT_THAT(stragglers(waiting_ranks({0.2, 0.25, 0.3})), IsEmpty());
  EXPECT_THAT(stragglers(waiting_ranks({0, 0.0005})), IsEmpty());
  EXPECT_THAT(stragglers(waiting_ranks({0.5})), IsEmpty());
  EXPECT_THAT(stragglers({}), IsEmpty());
}

// An interrupted rank that was still in its warm-up has not waited for a rank.
TEST(Stragglers, IgnoresRanksWithoutMeasuredStep) {
  std::vector<Account> ranks = waiting_ranks({0.7, 0, 0.7, 0.6, 0});
  ranks[4].window = 0;
  EXPECT_THAT(stragglers(ranks), ElementsAre(1));
  ranks[1].window = 0;
  EXPECT_THAT(stragglers(ranks), IsEmpty());
  EXPECT_THAT(slowest_ranks({500, 0, 505, 490, 100}), ElementsAre(4));
  EXPECT_THAT(slowest_ranks({0, 0}), IsEmpty());
}

TEST(SlowestRanks, FindsRanksWithFarLowerRate) {
  EXPECT_THAT(slowest_ranks({500, 100, 505, 490}), ElementsAre(1));
  EXPECT_THAT(slowest_ranks({500, 100, 105, 490}), ElementsAre(1, 2));
  EXPECT_THAT(slowest_ranks({500, 480}), IsEmpty());
  EXPECT_THAT(slowest_ranks({100, 100, 500}), IsEmpty()) << "most are";
}

TEST(WordsOfRanks, NamesFewOfMany) {
  EXPECT_EQ(describe_ranks({3}), "rank 3");
  EXPECT_EQ(describe_ranks({1, 2}), "ranks 1 and 2");
  EXPECT_EQ(describe_ranks({1, 2, 3, 4}), "ranks 1, 2, 3 and 4");
  EXPECT_EQ(describe_ranks({1, 2, 3, 4, 5}), "ranks 1, 2, 3 and 2 more");
}

}  // namespace
}  // namespace loaderscope
