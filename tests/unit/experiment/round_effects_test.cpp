#include "experiment/case_statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace loaderscope {
namespace {

// A repeatable deviate of about the normal law: twelve uniform draws.
double noise(std::uint64_t seed) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) {
    seed += 0x9e3779b97f4a7c15;
    std::uint64_t z = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    sum += static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  return sum;
}

TEST(RoundEffects, GivesExactLevelsWithoutVariation) {
  const RoundEffects levels(3, {{0, 0, 1, 0}, {1, 0, 2, 0}, {0, 1, 1, 0}, {1, 1, 2, 0}});
  EXPECT_NEAR(levels.level(0), 1, 1e-9);
  EXPECT_NEAR(levels.level(1), 2, 1e-9);
  EXPECT_FALSE(levels.known(2));
  EXPECT_NEAR(levels.estimate(1).half_width(), 0, 1e-6);
  EXPECT_EQ(levels.probability(1, 0, 1.0), 1);
  EXPECT_EQ(levels.probability(1, 0, 1.1), 0);
}

TEST(RoundEffects, RemovesCommonEffectOfRound) {
  std::vector<Observation> observations;
  for (int round = 0; round < 6; ++round) {
    const double weather = round % 2 == 0 ? 0.2 : -0.2;
    for (std::size_t i = 0; i < 5; ++i) {
      const auto seed = static_cast<std::uint64_t>(round) * 100 + i;
      observations.push_back(
          {i, round, 0.03 * static_cast<double>(i) + weather + 0.002 * noise(seed), 0});
    }
  }
  const RoundEffects levels(5, observations);
  EXPECT_NEAR(levels.level(4) - levels.level(0), 0.12, 0.01);
  EXPECT_GT(levels.probability(1, 0, 0), 0.9);
  EXPECT_LT(levels.probability(0, 1, 0), 0.1);
}

TEST(RoundEffects, CoversTruthAsOftenAsIntervalsSay) {
  int held = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<Observation> observations;
    for (int round = 0; round < 4; ++round) {
      for (std::size_t i = 0; i < 4; ++i) {
        const auto seed =
            static_cast<std::uint64_t>(trial) * 1000 + static_cast<std::uint64_t>(round) * 10 + i;
        observations.push_back({i, round, 1 + 0.05 * noise(seed), 0});
      }
    }
    const Estimate estimate = RoundEffects(4, observations).estimate(2);
    held += estimate.low <= 1 && 1 <= estimate.high ? 1 : 0;
  }
  EXPECT_GT(held, kTrials * 90 / 100);
  EXPECT_LT(held, kTrials * 99 / 100);
}

TEST(RoundEffects, UsesIntervalOfStepsForOneRun) {
  const RoundEffects levels(1, {{0, 0, 5, 0.01}});
  EXPECT_NEAR(levels.estimate(0).half_width(), 2.57 * 0.1, 0.01);  // Student, five degrees
}

}  // namespace
}  // namespace loaderscope
