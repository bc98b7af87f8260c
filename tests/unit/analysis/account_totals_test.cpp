#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <stdexcept>

#include "loaderscope/analysis.h"
#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using namespace test;

Nanos booked(const Account& account) {
  return std::accumulate(account.stall.begin(), account.stall.end(), account.compute);
}

TEST(AccountOf, SumsTheMeasuredRowsOnly) {
  const RankRecord rank = make_rank_record(3, 10, [](std::int64_t step) {
    return make_step_plan(step < 3 ? 999 : 25, {{Cause::decode, 60}, {Cause::launch, 10}});
  });
  const Account account = rank_account(rank);
  EXPECT_EQ(account.compute, 250);
  EXPECT_EQ(account.stall[Cause::decode], 600);
  EXPECT_EQ(account.window, 950);
  EXPECT_EQ(account.idle(), 700);
  EXPECT_EQ(booked(account), account.window);
}

TEST(AccountOf, SplitsLaunch) {
  RankRecord rank = make_rank_record(0, 0, usual_step);
  StepRow row = make_step_row(make_step_plan(5, {{Cause::launch, 10}}), 0, rank.window_end, false);
  row.not_asking = 4;
  rank.rows.push_back(row);
  rank.window_end = row.compute_end;
  const Account account = rank_account(rank);
  EXPECT_EQ(account.not_asking, 4);
  EXPECT_EQ(account.launching, 6);
}

TEST(AccountOf, RefusesRowsThatDoNotClose) {
  RankRecord rank = make_rank_record(0, 5, usual_step);
  ++rank.window_end;
  EXPECT_THROW(rank_account(rank), std::logic_error);
}

TEST(AccountOf, GivesZerosWithoutMeasuredStep) {
  const Account account = rank_account(make_rank_record(3, 0, usual_step));
  EXPECT_EQ(account.window, 0);
  EXPECT_EQ(account.compute, 0);
}

TEST(MeanAccount, EqualsAccountOfSingleRank) {
  const Account account = rank_account(make_rank_record(2, 7, usual_step));
  const Account mean = mean_account({account});
  EXPECT_EQ(mean.window, account.window);
  EXPECT_EQ(mean.compute, account.compute);
  EXPECT_EQ(mean.stall, account.stall);
  EXPECT_EQ(mean.why, account.why);
}

TEST(MeanAccount, ClosesToTheNanosecondForAnyRanks) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<Account> ranks(1 + random() % 7);
    for (Account& rank : ranks) {
      rank.compute = static_cast<Nanos>(random() % 1000);
      for (Nanos& ns : rank.stall) ns = static_cast<Nanos>(random() % 100);
      rank.not_asking = rank.stall[Cause::launch] / 2;
      for (Nanos& ns : rank.why) ns = static_cast<Nanos>(random() % 100);
      rank.window = booked(rank);
    }
    const Account mean = mean_account(ranks);
    ASSERT_EQ(booked(mean), mean.window);
    ASSERT_EQ(mean.launching + mean.not_asking, mean.stall[Cause::launch]);
    for (std::size_t c = 0; c < kCauses; ++c) {
      double exact = 0;
      for (const Account& rank : ranks) exact += static_cast<double>(rank.stall.at(c));
      ASSERT_NEAR(static_cast<double>(mean.stall.at(c)), exact / static_cast<double>(ranks.size()),
                  1.0);
    }
  }
}

TEST(MeanAccount, HandlesHugeTimesWithoutOverflow) {
  Account century;
  century.compute = century.window = Nanos{1} << 62;
  const Account mean = mean_account(std::vector<Account>(8, century));
  EXPECT_EQ(mean.window, century.window);
  EXPECT_EQ(mean.compute, century.compute);
}

}  // namespace
}  // namespace loaderscope
