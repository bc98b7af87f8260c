// Sums and differences of running accounts.
#include "record/running_account.h"

#include <gtest/gtest.h>

namespace loaderscope {
namespace {

// Each member has another value.
RunningAccount make_distinct_account(std::int64_t first) {
  RunningAccount account;
  std::int64_t next = first;
  for (std::int64_t* member : {&account.compute, &account.window, &account.queued, &account.steps,
                               &account.ready, &account.samples})
    *member = next++;
  for (Nanos& part : account.stall) part = next++;
  account.ranks = 2;
  return account;
}

void expect_equal(const RunningAccount& one, const RunningAccount& other) {
  EXPECT_EQ(one.compute, other.compute);
  EXPECT_EQ(one.window, other.window);
  EXPECT_EQ(one.queued, other.queued);
  EXPECT_EQ(one.steps, other.steps);
  EXPECT_EQ(one.ready, other.ready);
  EXPECT_EQ(one.samples, other.samples);
  for (std::size_t c = 0; c < kCauses; ++c) EXPECT_EQ(one.stall.at(c), other.stall.at(c)) << c;
}

TEST(RunningAccount, SubtractsWhatWasAdded) {
  const RunningAccount earlier = make_distinct_account(100), later = make_distinct_account(7000);
  RunningAccount account = earlier;
  account.add(later);
  account.subtract(earlier);
  expect_equal(account, later);
}

TEST(RunningAccount, KeepsNumberOfRanks) {
  RunningAccount account = make_distinct_account(100);
  account.subtract(make_distinct_account(1));
  EXPECT_EQ(account.ranks, 2);
}

}  // namespace
}  // namespace loaderscope
