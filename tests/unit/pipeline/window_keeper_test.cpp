#include "engine/pipeline/measurement_window.h"

#include <gtest/gtest.h>

#include <vector>

namespace loaderscope {
namespace {

// Numbers of warm-up steps and of measured steps, and whether the window ended.
struct Counted {
  std::int64_t warmup = 0, measured = 0;
  bool ended = false;
};

Counted count(const RunConfig& config, std::int64_t burst, const std::vector<Nanos>& ends) {
  MeasurementWindow keeper(config, burst);
  keeper.first_ask(0);
  Counted counted;
  double fraction = 0;
  for (std::size_t step = 0; step < ends.size() && !keeper.ended(); ++step) {
    const bool warmup = keeper.is_warmup(static_cast<std::int64_t>(step), ends[step]);
    EXPECT_TRUE(!warmup || counted.measured == 0) << "warm-up after the window has begun";
    ++(warmup ? counted.warmup : counted.measured);
    EXPECT_EQ(keeper.measured(), counted.measured);
    EXPECT_GE(keeper.fraction(), fraction);
    EXPECT_LE(keeper.fraction(), 1);
    fraction = keeper.fraction();
  }
  counted.ended = keeper.ended();
  return counted;
}

std::vector<Nanos> every(Nanos period, std::int64_t steps) {
  std::vector<Nanos> ends;
  for (std::int64_t i = 1; i <= steps; ++i) ends.push_back(i * period);
  return ends;
}

RunConfig make_config(WarmUp warmup, std::int64_t steps, Nanos duration) {
  RunConfig config;
  config.measure.warmup.value = warmup;
  config.measure.steps.value = steps;
  if (duration > 0) config.measure.duration.set(duration);
  return config;
}

void expect(const Counted& counted, std::int64_t warmup, std::int64_t measured, bool ended) {
  EXPECT_EQ(counted.warmup, warmup);
  EXPECT_EQ(counted.measured, measured);
  EXPECT_EQ(counted.ended, ended);
}

TEST(MeasurementWindow, CountsSteps) {
  expect(count(make_config({5, 0}, 20, 0), 4, every(10, 100)), 5, 20, true);
  expect(count(make_config({0, 0}, 1, 0), 4, every(10, 100)), 0, 1, true);
  expect(count(make_config({5, 0}, 20, 0), 4, every(10, 24)), 5, 19, false);
}

TEST(MeasurementWindow, BeginsDurationWithLastComputeOfWarmUp) {
  expect(count(make_config({5, 0}, 0, 100), 1, every(10, 100)), 5, 10, true);
  expect(count(make_config({5, 0}, 0, 101), 1, every(10, 100)), 5, 11, true);
  expect(count(make_config({0, 0}, 0, 100), 1, every(10, 100)), 0, 10, true);
}

TEST(MeasurementWindow, EndsDurationOnWholeBursts) {
  expect(count(make_config({5, 0}, 0, 100), 4, every(10, 100)), 5, 12, true);
  expect(count(make_config({5, 0}, 0, 1), 7, every(10, 100)), 5, 7, true);
}

TEST(MeasurementWindow, CountsWarmUpStepsByEndTime) {
  expect(count(make_config({0, 30}, 5, 0), 1, every(10, 100)), 3, 5, true);
  expect(count(make_config({0, 29}, 5, 0), 1, every(10, 100)), 2, 5, true);
  expect(count(make_config({0, 5}, 5, 0), 1, every(10, 100)), 0, 5, true);
}

TEST(MeasurementWindow, ContinuesWithoutEndForEpochs) {
  RunConfig config;
  config.measure.warmup.value = {2, 0};
  config.measure.epochs.set(3);
  expect(count(config, 4, every(kSecond, 100)), 2, 98, false);
  config.measure.duration.set(10 * kSecond);
  expect(count(config, 1, every(kSecond, 100)), 2, 10, true);
}

TEST(MeasurementWindow, AcceptsInputThatEndsInWarmUp) {
  expect(count(make_config({5, 0}, 20, 0), 1, every(10, 3)), 3, 0, false);
}

}  // namespace
}  // namespace loaderscope
