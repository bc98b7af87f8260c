#include "predict/prediction_window.h"

#include <gtest/gtest.h>

namespace loaderscope::model {

bool operator==(const StepsToRun& a, const StepsToRun& b) {
  return a.warmup == b.warmup && a.measured == b.measured;
}

void PrintTo(const StepsToRun& steps, std::ostream* out) {
  *out << steps.measured << " steps behind " << steps.warmup;
}

namespace {

constexpr std::int64_t kMax = 1'000'000;

RunConfig config_with(std::int64_t workers, std::int64_t samples = 0, std::int64_t prefetch = 2) {
  RunConfig config;
  config.loader.num_workers.value = workers;
  config.loader.prefetch_factor.value = prefetch;
  config.loader.batch_size.value = 10;
  config.data.samples.value = samples;
  return config;
}

MatchedWindows sides(const StepsToRun& run, const RunConfig& base, const RunConfig& changed) {
  return match_windows(run, base, changed, kMax);
}

TEST(PredictionWindow, KeepsWindowOfRunWithoutChanges) {
  const RunConfig config = config_with(2);
  EXPECT_EQ(steps_of_run({5, 200}, config, kMax), (StepsToRun{5, 200}));
  EXPECT_EQ(sides({5, 200}, config, config).changed, (StepsToRun{5, 200}));
  EXPECT_EQ(steps_of_run({5, 200}, config, 1000), (StepsToRun{5, 100}));
}

// Two epochs of 100 steps, of which one begins within the run: half of it would begin one, too,
// twice as often.
TEST(PredictionWindow, BeginsEpochsAsOftenAsTheRun) {
  const RunConfig config = config_with(2, 1000);
  EXPECT_EQ(steps_of_run({5, 195}, config, 700), (StepsToRun{5, 195}));
  EXPECT_EQ(steps_of_run({5, 995}, config, 700), (StepsToRun{5, 100}));  // one in 110 steps
}

TEST(PredictionWindow, UsesEqualStepsOnBothSides) {
  const MatchedWindows deeper = sides({5, 200}, config_with(2), config_with(8, 0, 4));
  EXPECT_EQ(deeper.changed, (StepsToRun{32, 200}));  // fills the deeper window on both sides
  EXPECT_EQ(deeper.base, deeper.changed);
  EXPECT_EQ(sides({40, 200}, config_with(2), config_with(8, 0, 4)).changed, (StepsToRun{40, 200}));
  const MatchedWindows bursts = sides({5, 100}, config_with(2), config_with(7));
  EXPECT_EQ(bursts.changed.measured, 105);
  EXPECT_EQ(bursts.base, bursts.changed);
  const MatchedWindows shallower = sides({5, 200}, config_with(8), config_with(2));
  EXPECT_EQ(shallower.changed, (StepsToRun{5, 200}));
  EXPECT_EQ(shallower.base, shallower.changed);
}

TEST(PredictionWindow, CoversFourWindowsOfDeeperSide) {
  const MatchedWindows deeper = sides({5, 40}, config_with(4), config_with(4, 0, 16));
  EXPECT_EQ(deeper.changed.measured, 4 * 64);
  EXPECT_EQ(deeper.base, deeper.changed);
}

// 10 samples a step: an epoch of 1000 has 100.
TEST(PredictionWindow, StaysWithinTheEpochOfTheRun) {
  const MatchedWindows deep = sides({5, 60}, config_with(2, 1000), config_with(8, 1000, 8));
  EXPECT_EQ(deep.changed, (StepsToRun{5, 95}));
  EXPECT_EQ(deep.base, deep.changed);
}

TEST(PredictionWindow, CoversWholeEpochsIfRunSawEpochBegin) {
  const RunConfig base = config_with(2, 1000), changed = config_with(8, 1000);
  EXPECT_EQ(sides({5, 250}, base, changed).changed, (StepsToRun{100, 300}));
  EXPECT_EQ(sides({5, 250}, base, changed).base, (StepsToRun{100, 300}));
  EXPECT_EQ(sides({0, 120}, base, changed).base, (StepsToRun{0, 100}));  // starts with the epoch
}

TEST(PredictionWindow, StaysWhereItIsWhenEpochsAreTooLong) {
  const RunConfig base = config_with(2, 15'000), changed = config_with(8, 15'000);
  const MatchedWindows deep = match_windows({1'480, 50}, base, changed, 10'000);
  EXPECT_EQ(deep.changed, (StepsToRun{1'480, 50}));
  EXPECT_EQ(deep.base, deep.changed);
}

TEST(PredictionWindow, KeepsNumberOfSamplesInLargerBatches) {
  RunConfig larger = config_with(2);
  larger.loader.batch_size.value = 40;
  const MatchedWindows batches = sides({5, 200}, config_with(2), larger);
  EXPECT_EQ(batches.changed.measured, 50);
  EXPECT_EQ(batches.base.measured, 200);
}

// An epoch has 100 steps, and the window of the run contains no start of workers.
TEST(PredictionWindow, HoldsTheStartsOfOtherWorkers) {
  const auto with_starts = [](const RunConfig& base, const RunConfig& changed,
                              std::int64_t most = kMax) {
    return with_starts_of_epochs(sides({5, 60}, base, changed), base, changed, most).changed;
  };
  const RunConfig base = config_with(2, 1000);
  EXPECT_EQ(with_starts(base, config_with(8, 1000)), (StepsToRun{100, 100}));
  EXPECT_EQ(with_starts(base, config_with(2, 1000, 4)), (StepsToRun{100, 100}));
  EXPECT_EQ(with_starts(base, base), sides({5, 60}, base, base).changed);
  RunConfig kept = config_with(8, 1000);
  kept.loader.persistent_workers.value = true;
  EXPECT_EQ(with_starts(base, kept), (StepsToRun{100, 100}));  // their window is filled again
  EXPECT_EQ(with_starts(base, config_with(8, 1000), 100).measured, 64);  // too long to be run
}

}  // namespace
}  // namespace loaderscope::model
