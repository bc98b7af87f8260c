// Causes of contention: other programs, a CPU quota, or threads that compute.
#include "analysis/contention.h"

#include <gtest/gtest.h>

#include <utility>

namespace loaderscope {
namespace {

RunRecord contended_record(double throttled_s) {
  RunRecord record;
  RankRecord rank;
  rank.window_end = 10 * kSecond;
  record.ranks.push_back(std::move(rank));
  record.metrics = {{"host.other_cpu_s", "s", "", 30},
                    {"process.cpu_s", "s", "", 10},
                    {"host.throttled_s", "s", "", throttled_s}};
  return record;
}

TEST(Contention, BlamesOthersByTheirCpuTime) {
  EXPECT_DOUBLE_EQ(contention_of_others(contended_record(0)).value_or(0), 0.75);
  EXPECT_TRUE(others_matter(contended_record(0)));
}

// Others have cores that the quota leaves free.
TEST(Contention, BlamesQuotaInsteadOfOthers) {
  EXPECT_DOUBLE_EQ(stopped_by_quota(contended_record(4)), 0.4);
  EXPECT_FALSE(contention_of_others(contended_record(4)));
  EXPECT_EQ(describe_others(contended_record(4)), "");
}

RunRecord program_record(bool uses_gpu) {
  RunRecord record;
  record.config.trainer.device.value = "script";
  record.program = ProgramFacts{{}, {}, uses_gpu, {}};
  RankRecord rank;
  rank.window_end = 10 * kSecond;
  rank.stages[Stage::compute].add(5 * kSecond, 0, 0, 0);
  record.ranks.push_back(std::move(rank));
  record.metrics = {{"process.cpu_s", "s", "", 20}};
  return record;
}

TEST(Contention, CountsComputingThreadsWithoutGpu) {
  EXPECT_DOUBLE_EQ(computing_threads(program_record(false)), 4);
  EXPECT_EQ(computing_threads(program_record(true)), 0) << "whether CUPTI reported it or not";
}

}  // namespace
}  // namespace loaderscope
