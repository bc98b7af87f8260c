// Detects whether requests share a rate, from their speed among few and among many others.
#include "source/read_counts.h"

#include <gtest/gtest.h>

namespace loaderscope::source {
namespace {

// A second of each crowd, in which each request gets this many bytes.
template <class RateOfEach>
std::optional<double> slowdown(std::initializer_list<int> crowds, const RateOfEach& rate_of_each) {
  const ReadCounts counts;
  for (const int crowd : crowds)
    counts.count_among(crowd, kSecond * crowd, static_cast<Bytes>(rate_of_each(crowd)) * crowd);
  return counts.slowed_by_others();
}

TEST(ReadCounts, DistinguishesOwnRateFromSharedRate) {
  const auto own = [](int) { return 1'000'000; };
  const auto shared = [](int crowd) { return 8'000'000 / crowd; };
  EXPECT_NEAR(slowdown({1, 2, 4, 8, 16}, own).value(), 0, 1e-9);
  EXPECT_NEAR(slowdown({1, 2, 4, 8, 16}, shared).value(), 1, 1e-3);
  EXPECT_NEAR(slowdown({4, 8}, shared).value(), 1, 1e-3);
}

TEST(ReadCounts, NeedsDifferentNumbersOfRequests) {
  const auto own = [](int) { return 1'000'000; };
  EXPECT_FALSE(slowdown({}, own));
  EXPECT_FALSE(slowdown({8}, own));
  EXPECT_FALSE(slowdown({7, 8}, own));
  const ReadCounts few;
  few.count_among(8, kSecond, 1000);
  few.count_among(1, kSecond / 100, 1000);  // too short to count
  EXPECT_FALSE(few.slowed_by_others());
}

}  // namespace
}  // namespace loaderscope::source
