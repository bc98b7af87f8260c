#include "predict/search_fix.h"

#include <gtest/gtest.h>

#include <set>

namespace loaderscope {
namespace {

TEST(SmallestEnough, FindsValueFromAnyFirstGuess) {
  for (std::int64_t wanted = 1; wanted <= 40; ++wanted) {
    for (std::int64_t first : {-5, 0, 1, 3, 17, 40, 99}) {
      const auto is_enough = [&](std::int64_t n) { return n >= wanted; };
      EXPECT_EQ(smallest_sufficient({0, first, 40}, is_enough), wanted) << first;
    }
  }
}

TEST(SmallestEnough, TriesEachValueOnceAndNoneOutside) {
  std::multiset<std::int64_t> tried;
  const auto is_enough = [&](std::int64_t n) {
    tried.insert(n);
    return n >= 77;
  };
  EXPECT_EQ(smallest_sufficient({4, 8, 128}, is_enough), 77);
  EXPECT_LE(tried.size(), 12U);
  EXPECT_GT(*tried.begin(), 4);
  EXPECT_LE(*tried.rbegin(), 128);
  EXPECT_EQ(std::set<std::int64_t>(tried.begin(), tried.end()).size(), tried.size());
}

TEST(SmallestEnough, ReturnsNothingIfMaximumIsNotEnough) {
  EXPECT_FALSE(smallest_sufficient({0, 1, 100}, [](std::int64_t) { return false; }));
  EXPECT_FALSE(smallest_sufficient({5, 6, 5}, [](std::int64_t) { return true; }));
}

TEST(SmallestEnough, AllowsLargerValueWithinSlack) {
  int tries = 0;
  const auto is_enough = [&](std::int64_t n) { return ++tries > 0 && n >= 700; };
  const std::int64_t found = smallest_sufficient({0, 1, 1024, 0.05}, is_enough).value();
  EXPECT_GE(found, 700);
  EXPECT_LE(found, 735);
  EXPECT_LE(tries, 16);
}

}  // namespace
}  // namespace loaderscope
