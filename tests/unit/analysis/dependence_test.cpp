// Intervals cover the truth as often as they say, also where steps depend on those before them.
#include "analysis/dependence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "analysis/statistics.h"

namespace loaderscope {
namespace {

// Values of which each depends on the one before: the correlation is 1/e after `memory` of them.
class Autoregressive {
 public:
  Autoregressive(double memory, std::uint64_t seed)
      : correlation_(memory > 0 ? std::exp(-1 / memory) : 0),
        random_(seed),
        last_(normal_(random_)) {}

  double next() {
    const double now = last_;
    last_ = correlation_ * last_ + std::sqrt(1 - correlation_ * correlation_) * normal_(random_);
    return now;
  }

 private:
  double correlation_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  double last_;
};

std::vector<double> series(double memory, int n, std::uint64_t seed = 1) {
  Autoregressive from(memory, seed);
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(from.next());
  return values;
}

constexpr double kCompute = 25, kIdle = 3, kSpread = 0.5;  // ms; idle: ln of the median, and sigma

struct Coverage {
  double covered = 0;  // share of the intervals that were given
  double firm = 0;     // share of the runs that gave one
};

// Coverage of the interval of busy, over runs of `steps` steps with lognormal idle times.
Coverage coverage(double memory, std::int64_t steps, std::int64_t least_block = 2, int runs = 300) {
  const double truth = kCompute / (kCompute + std::exp(kIdle + kSpread * kSpread / 2));
  int firm = 0, covered = 0;
  for (int run = 0; run < runs; ++run) {
    Autoregressive idle(memory, static_cast<std::uint64_t>(run) + 1);
    StepSeries series(steps);
    for (std::int64_t i = 0; i < steps; ++i) {
      StepSums sums;
      sums.compute = kCompute;
      sums.time = kCompute + std::exp(kIdle + kSpread * idle.next());
      series.add(i, sums);
    }
    const Bootstrap bootstrap(series, least_block);
    if (!bootstrap.plan().firm) continue;
    const Estimate busy =
        bootstrap.estimate([](const StepSums& sums) { return sums.compute / sums.time; });
    ++firm;
    covered += busy.low <= truth && truth <= busy.high ? 1 : 0;
  }
  return {firm > 0 ? static_cast<double>(covered) / firm : 0, static_cast<double>(firm) / runs};
}

TEST(Dependence, FindsNoneInIndependentValues) {
  double longest = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    longest = std::max(longest, measure_dependence(series(0, 400, seed)).block);
  EXPECT_LT(longest, 10);
  EXPECT_EQ(measure_dependence(std::vector<double>(100, 3.0)).block, 1);
  EXPECT_EQ(measure_dependence(std::vector<double>{}).block, 1);
}

TEST(Dependence, FollowsTheSeries) {
  const Dependence five = measure_dependence(series(5, 20'000)),
                   twenty = measure_dependence(series(20, 20'000));
  EXPECT_NEAR(five.memory(), 5, 0.7);
  EXPECT_NEAR(twenty.memory(), 20, 3);
  // (1.5 n)^(1/3) (2 phi / (1 - phi^2))^(2/3): 91 and 229.
  EXPECT_NEAR(five.block, 91, 20);
  EXPECT_NEAR(twenty.block, 229, 120);
}

// A regular pattern varies less than random values, so that blocks need not be longer for it.
TEST(Dependence, FindsNoneInRegularPattern) {
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(i % 10 == 0 ? 5 : 1);
  EXPECT_EQ(measure_dependence(values).block, 1);
}

TEST(Intervals, CoversTruthOfIndependentSteps) {
  for (const std::int64_t steps : {60, 200, 1000}) {
    const Coverage found = coverage(0, steps);
    EXPECT_GE(found.covered, 0.93) << steps;
    EXPECT_LE(found.covered, 0.98) << steps;
    EXPECT_EQ(found.firm, 1) << steps;
  }
}

TEST(Intervals, CoversTruthOfDependentSteps) {
  struct Window {
    double memory;
    std::int64_t steps;
  };
  for (const Window& window :
       {Window{5, 200}, Window{5, 500}, Window{5, 1000}, Window{20, 1000}, Window{20, 3000}}) {
    const Coverage found = coverage(window.memory, window.steps);
    EXPECT_GE(found.covered, 0.915) << window.memory << " " << window.steps;
    EXPECT_LE(found.covered, 0.98) << window.memory << " " << window.steps;
    EXPECT_GE(found.firm, 0.95) << window.memory << " " << window.steps;
  }
}

// Four workers: blocks are whole bursts of them, and as long.
TEST(Intervals, CoversTruthOfBursts) {
  const Coverage found = coverage(20, 1000, 8);
  EXPECT_GE(found.covered, 0.915);
  EXPECT_LE(found.covered, 0.98);
}

// A window of five memories says nothing that could be relied on.
TEST(Intervals, RejectsMostWindowsThatAreTooShort) {
  EXPECT_LE(coverage(20, 100).firm, 0.35);
  EXPECT_LE(coverage(100, 500).firm, 0.35);
}

}  // namespace
}  // namespace loaderscope
