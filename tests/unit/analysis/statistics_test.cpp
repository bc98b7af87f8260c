#include "analysis/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace loaderscope {
namespace {

double busy(const StepSums& sums) { return sums.compute / sums.time; }

StepSums step(double time, double compute) {
  StepSums sums;
  sums.time = time;
  sums.compute = compute;
  sums.samples = 1;
  return sums;
}

StepSeries equal_steps(std::int64_t n) {
  StepSeries series(n);
  for (std::int64_t i = 0; i < n; ++i) series.add(i, step(100, 25));
  return series;
}

// Share of `runs` runs of `steps` noisy steps in which the 95 % interval of busy covers the truth.
double coverage(int runs, std::int64_t steps, std::int64_t block) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> idle(3, 0.7);
  const double truth = 25 / (25 + std::exp(3 + 0.7 * 0.7 / 2));
  int covered = 0;
  for (int run = 0; run < runs; ++run) {
    StepSeries series(steps);
    for (std::int64_t i = 0; i < steps; ++i) series.add(i, step(25 + idle(random), 25));
    const Estimate estimate = Bootstrap(series, block).estimate(busy);
    covered += estimate.low <= truth && truth <= estimate.high ? 1 : 0;
  }
  return static_cast<double>(covered) / runs;
}

TEST(Bootstrap, GivesNoWidthWithoutVariance) {
  for (std::int64_t n : {2, 20, 333, 100'000}) {
    const Estimate estimate = Bootstrap(equal_steps(n), 8).estimate(busy);
    EXPECT_DOUBLE_EQ(estimate.mean, 0.25) << n;
    EXPECT_DOUBLE_EQ(estimate.low, 0.25) << n;
    EXPECT_DOUBLE_EQ(estimate.high, 0.25) << n;
  }
}

TEST(Bootstrap, CoversTheTruthNearlyAsOftenAsItSays) {
  const double covered = coverage(400, 400, 2);
  EXPECT_GE(covered, 0.92);
  EXPECT_LE(covered, 0.98);
}

TEST(Bootstrap, CoversTheTruthWithFewBlocks) { EXPECT_GE(coverage(400, 60, 12), 0.90); }

TEST(Bootstrap, RepeatsInterval) {
  StepSeries series(200);
  for (std::int64_t i = 0; i < 200; ++i)
    series.add(i, step(100 + static_cast<double>(i * i % 37), 25));
  const Estimate a = Bootstrap(series, 4).estimate(busy);
  const Estimate b = Bootstrap(series, 4).estimate(busy);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  EXPECT_LT(a.low, a.mean);
  EXPECT_LT(a.mean, a.high);
}

// Seven steps wait for nothing, the eighth for all: single steps would seem far noisier than the
// run is.
TEST(Bootstrap, SeesLessNoiseInWholeBursts) {
  StepSeries series(800);
  for (std::int64_t i = 0; i < 800; ++i) series.add(i, step(i % 8 == 7 ? 825 : 25, 25));
  const Estimate blocks = Bootstrap(series, 16).estimate(busy);
  const Estimate single = Bootstrap(series, 1).estimate(busy);
  EXPECT_LT(blocks.half_width(), 0.001);
  EXPECT_GT(single.half_width(), 10 * blocks.half_width());
}

TEST(Bootstrap, GivesZeroForEmptySeries) {
  const Bootstrap bootstrap(StepSeries(0), 4);
  EXPECT_EQ(bootstrap.estimate([](const StepSums& s) { return s.time; }).high, 0);
}

TEST(StepSeries, AddsManyStepsUpInCells) {
  StepSeries series(1'000'000);
  EXPECT_LE(std::ssize(series.cells()), StepSeries::kMaxCells);
  series.add(999'999, step(3, 1));
  series.add(999'998, step(4, 1));
  EXPECT_EQ(series.cells().back().time, 7);
}

TEST(PlanBlocks, EnlargesBlocksRatherThanHaveManyAndHalvesShortRuns) {
  EXPECT_EQ(plan_blocks(100, 10).blocks, 10);
  EXPECT_TRUE(plan_blocks(100, 10).firm);
  EXPECT_LE(plan_blocks(8192, 1).blocks, 512);
  EXPECT_TRUE(plan_blocks(30, 10).firm);
  EXPECT_FALSE(plan_blocks(29, 10).firm);
  EXPECT_EQ(plan_blocks(29, 10).cells, 10);
  EXPECT_FALSE(plan_blocks(19, 10).firm);
  EXPECT_EQ(plan_blocks(19, 10).blocks, 2);
  EXPECT_EQ(plan_blocks(1, 10).blocks, 1);
}

TEST(Quantiles, MatchesTables) {
  EXPECT_NEAR(student_quantile(0.975, 1), 12.706, 1e-3);
  EXPECT_NEAR(student_quantile(0.975, 2), 4.303, 1e-3);
  EXPECT_NEAR(student_quantile(0.975, 3), 3.182446, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 10), 2.228, 1e-3);
  EXPECT_NEAR(student_quantile(0.995, 30), 2.749996, 1e-6);
  EXPECT_NEAR(student_quantile(0.9995, 10), 4.586894, 1e-6);
  EXPECT_NEAR(student_quantile(0.025, 7), -2.364624, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 400), 1.965912, 1e-6);
  EXPECT_NEAR(student_quantile(0.975, 401), 1.965898, 1e-6);
}

std::vector<double> noisy(int n, double second_half) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 5);
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back((i < n / 2 ? 100 : second_half) + noise(random));
  return values;
}

TEST(KeepsLevel, SeesALevelThatMoves) {
  EXPECT_TRUE(keeps_level(noisy(100, 100), 2));
  EXPECT_TRUE(keeps_level(noisy(100, 105), 2));  // less than 10 %
  EXPECT_FALSE(keeps_level(noisy(100, 130), 2));
  EXPECT_FALSE(keeps_level(noisy(100, 70), 2));
}

TEST(KeepsLevel, NeedsMoreThanNoise) {
  std::mt19937_64 random(5);
  std::lognormal_distribution<double> wild(3, 1.5);
  int moved = 0;
  for (int run = 0; run < 100; ++run) {
    std::vector<double> values(24);
    for (double& value : values) value = wild(random);
    moved += keeps_level(values, 2) ? 0 : 1;
  }
  EXPECT_LE(moved, 5);
}

// One block in each half makes the interval too wide for any change.
TEST(KeepsLevel, SeesThatFewBlocksDouble) {
  const auto halves = [](double first, double second) {
    std::mt19937_64 random(3);
    std::lognormal_distribution<double> noise(0, 0.3);
    std::vector<double> values;
    for (int i = 0; i < 64; ++i) values.push_back((i < 32 ? first : second) * noise(random));
    return values;
  };
  EXPECT_FALSE(keeps_level(halves(10, 25), 32));
  EXPECT_FALSE(keeps_level(halves(25, 10), 32));
  EXPECT_TRUE(keeps_level(halves(10, 11), 32)) << "too little for so few";
  std::vector<double> once = halves(10, 10);
  once[40] = 1000;
  EXPECT_TRUE(keeps_level(once, 32)) << "one late batch is no other level";
}

TEST(KeepsLevel, AcceptsFewValues) {
  EXPECT_TRUE(keeps_level({}, 2));
  EXPECT_TRUE(keeps_level({1}, 2));
  EXPECT_TRUE(keeps_level({1, 1}, 2));
}

}  // namespace
}  // namespace loaderscope
