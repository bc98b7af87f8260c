
#include <gtest/gtest.h>

#include "experiment/compare/quantities.h"

namespace loaderscope::compare {
namespace {

TEST(Counts, IncludesWorkAndExactMetricsPerSample) {
  RunRecord record;
  RankRecord& rank = record.ranks.emplace_back();
  rank.samples = 10;
  rank.work = {.opened = 20, .requests = 30, .allocations = 0};
  record.metrics = {{"opens.per_sample", "1", "", 2, true},
                    {"memory.resident_bytes", "bytes", "", 5}};
  const Counts counts = collect_counts(record);
  EXPECT_EQ(value_of(counts, "opens"), 2);
  EXPECT_EQ(value_of(counts, "requests"), 3);
  EXPECT_EQ(value_of(counts, "allocations"), std::nullopt) << "nothing is counted";
  EXPECT_EQ(value_of(counts, "opens.per_sample"), 2);
  EXPECT_EQ(value_of(counts, "memory.resident_bytes"), std::nullopt);
  EXPECT_TRUE(follows_from_draws("bytes-read"));
  EXPECT_FALSE(follows_from_draws("requests"));
  EXPECT_FALSE(follows_from_draws("opens.per_sample"));
}

}  // namespace
}  // namespace loaderscope::compare
