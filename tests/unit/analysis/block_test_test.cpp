#include "analysis/block_test.h"

#include <gtest/gtest.h>

#include <cmath>

namespace loaderscope {
namespace {

// Blocks of A B B A.
std::vector<BlockValue> block_values(const std::vector<std::vector<double>>& blocks) {
  std::vector<BlockValue> values;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t i = 0; i < blocks[b].size(); ++i)
      values.push_back({static_cast<std::int64_t>(b), i == 1 || i == 2, blocks[b][i]});
  }
  return values;
}

TEST(BlockTest, FitsBlocksAndArmsByLeastSquares) {
  // B - A is 1 in the first block and 2 in the second.
  const BlockTest test(block_values({{0, 2, 2, 2}, {7, 7, 7, 3}}));
  EXPECT_TRUE(test.knows());
  EXPECT_NEAR(test.mean(), 1.5, 1e-12);
  EXPECT_GT(test.p_differs(), 0.05);
}

TEST(BlockTest, IgnoresDifferencesBetweenBlocks) {
  const BlockTest test(
      block_values({{1, 2.1, 1.9, 1}, {101, 102.1, 101.9, 101}, {51, 51.9, 52.1, 51}}));
  EXPECT_NEAR(test.mean(), 1, 1e-12);
  EXPECT_LT(test.interval(0.95).half_width(), 0.2);
}

TEST(BlockTest, IgnoresSteadyDrift) {
  const BlockTest test(block_values({{1, 2.5, 3.5, 4}, {5, 6.5, 7.5, 8.01}, {9, 10.5, 11.51, 12}}));
  EXPECT_NEAR(test.mean(), 0.5, 0.01);
  EXPECT_LT(test.interval(0.95).half_width(), 0.02);
}

TEST(BlockTest, EstimatesErrorFromRunsOfOneArm) {
  // Two blocks without a drift: 8 values less 2 blocks, the arm and the time are 4 degrees.
  const BlockTest test(block_values({{0, 0, 2, 2}, {2, 2, 0, 0}}));
  EXPECT_NEAR(test.mean(), 0, 1e-12);
  const double error = std::sqrt(8.0 / 4 / 2);  // 8 squares of 1; arms are 8 x 0.25
  EXPECT_NEAR(test.interval(0.95).half_width(), 2.776445 * error, 1e-5);
}

TEST(BlockTest, TreatsAnyDifferenceAsRealWithoutNoise) {
  const BlockTest none(block_values({{1, 1, 1, 1}, {2, 2, 2, 2}}));
  EXPECT_EQ(none.p_differs(), 1);
  EXPECT_EQ(none.p_beyond(0.02), 0);
  const BlockTest some(block_values({{1, 1.5, 1.5, 1}, {2, 2.5, 2.5, 2}}));
  EXPECT_EQ(some.p_differs(), 0);
  EXPECT_EQ(some.p_beyond(0.02), 1);
}

TEST(BlockTest, ReportsUnknownForTooFewRuns) {
  for (const auto& values :
       {std::vector<BlockValue>{}, std::vector<BlockValue>{{0, false, 1}},
        std::vector<BlockValue>{{0, false, 1}, {0, true, 2}},
        std::vector<BlockValue>{{0, false, 1}, {0, false, 2}, {0, false, 3}}}) {
    const BlockTest test(values);
    EXPECT_FALSE(test.knows());
    EXPECT_EQ(test.p_differs(), 1);
    EXPECT_EQ(test.p_beyond(0.02), 1);
    EXPECT_TRUE(std::isinf(test.interval(0.95).high));
  }
}

TEST(BlockTest, NeedsFourTimesTheRunsForHalfTheInterval) {
  const BlockTest test(block_values({{1, 2, 3, 4}, {4, 3, 1, 2}, {2, 2, 1, 3}}));
  EXPECT_NEAR(test.more_for(test.interval(0.95).half_width() / 2, 0.95), 4, 1e-9);
  EXPECT_TRUE(std::isinf(test.more_for(0, 0.95)));
}

TEST(MeanWithInterval, UsesStudentDistribution) {
  const Estimate estimate = mean_with_interval(std::vector<double>{1, 2, 3, 4}, 0.95);
  EXPECT_DOUBLE_EQ(estimate.mean, 2.5);
  EXPECT_NEAR(estimate.half_width(), 3.182446 * std::sqrt(5.0 / 3 / 4), 1e-5);
}

TEST(Holm, MultipliesSmallestByCount) {
  const std::vector<double> adjusted = holm_adjusted({0.01, 0.04, 0.03});
  EXPECT_NEAR(adjusted[0], 0.03, 1e-12);
  EXPECT_NEAR(adjusted[1], 0.06, 1e-12);
  EXPECT_NEAR(adjusted[2], 0.06, 1e-12);
  EXPECT_TRUE(holm_adjusted({}).empty());
}

}  // namespace
}  // namespace loaderscope
