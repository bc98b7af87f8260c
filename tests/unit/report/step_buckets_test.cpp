// Steps as stretches.
#include "report/step_buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/report/sample_record.h"

namespace loaderscope {
namespace {

using testing::ElementsAre;

RankRecord rank_with_waits(const std::vector<std::pair<Nanos, Nanos>>& deliverable_and_ask) {
  RankRecord rank;
  for (const auto& [deliverable, ask] : deliverable_and_ask) {
    StepRow row;
    row.step = rank.rows.size();
    row.deliverable = deliverable;
    row.ask = ask;
    row.take = std::max(deliverable, ask);
    row.idle_begin = ask;
    row.compute_begin = row.take;
    row.compute_end = row.take + 5;
    rank.rows.push_back(row);
  }
  return rank;
}

TEST(StepBuckets, CountsReadyBatchesAtEachRequest) {
  EXPECT_THAT(ready_when_asked(rank_with_waits({{10, 0}, {10, 20}, {15, 30}, {32, 35}, {90, 40}})),
              ElementsAre(0, 2, 1, 1, 0));
  EXPECT_THAT(ready_when_asked(rank_with_waits({{1, 10}, {2, 20}, {3, 30}})), ElementsAre(3, 2, 1));
  EXPECT_TRUE(ready_when_asked(rank_with_waits({})).empty());
}

TEST(StepBuckets, KeepsEveryStepAndTheLongest) {
  std::vector<std::pair<Nanos, Nanos>> steps;
  for (Nanos i = 0; i < 1001; ++i) steps.emplace_back(10 * i + (i == 500 ? 400 : 0), 10 * i);
  const StepBuckets stretches = step_stretches(rank_with_waits(steps), 100);
  EXPECT_EQ(stretches.each, 11);
  EXPECT_EQ(stretches.list.size(), 91u);
  EXPECT_EQ(stretches.steps, 1001);
  EXPECT_EQ(stretches.longest, 405);
  std::int64_t count = 0;
  Nanos sum = 0;
  for (const StepStretch& one : stretches.list) {
    count += one.steps;
    sum += one.sum;
  }
  EXPECT_EQ(count, 1001);
  EXPECT_EQ(sum, stretches.sum);
  EXPECT_TRUE(stretches.is_cut());
}

}  // namespace
}  // namespace loaderscope
