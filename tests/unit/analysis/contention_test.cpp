// Who took the cores that threads waited for.
#include "analysis/contention.h"

#include <gtest/gtest.h>

#include <utility>

namespace loaderscope {
namespace {

RunRecord beside_others(double throttled_s) {
  RunRecord record;
  RankRecord rank;
  rank.window_end = 10 * kSecond;
  record.ranks.push_back(std::move(rank));
  record.metrics = {{"host.other_cpu_s", "s", "", 30},
                    {"process.cpu_s", "s", "", 10},
                    {"host.throttled_s", "s", "", throttled_s}};
  return record;
}

TEST(Contention, IsOfOthersByTheCpuTimeThatTheyTook) {
  EXPECT_DOUBLE_EQ(contention_of_others(beside_others(0)).value_or(0), 0.75);
  EXPECT_TRUE(others_matter(beside_others(0)));
}

// Others have cores that the quota leaves free.
TEST(Contention, IsNotOfOthersWhereAQuotaStopsTheThreads) {
  EXPECT_DOUBLE_EQ(stopped_by_quota(beside_others(4)), 0.4);
  EXPECT_FALSE(contention_of_others(beside_others(4)));
  EXPECT_EQ(words_of_others(beside_others(4)), "");
}

RunRecord of_program(bool uses_gpu) {
  RunRecord record;
  record.config.trainer.device.value = "script";
  record.program = ProgramFacts{{}, {}, uses_gpu};
  RankRecord rank;
  rank.window_end = 10 * kSecond;
  rank.stages[Stage::compute].add(5 * kSecond, 0, 0, 0);
  record.ranks.push_back(std::move(rank));
  record.metrics = {{"process.cpu_s", "s", "", 20}};
  return record;
}

TEST(Contention, ThreadsComputeWhereNoGpuDoes) {
  EXPECT_DOUBLE_EQ(computing_threads(of_program(false)), 4);
  EXPECT_EQ(computing_threads(of_program(true)), 0) << "whether CUPTI told of it or not";
}

}  // namespace
}  // namespace loaderscope
