// Begin and end of the window. W = 1, T = 10, C = 4 unless a case says otherwise: compute k is
// [10 (k + 1), 10 (k + 1) + 4].
#include "unit/known_answer/known_answer.h"

namespace loaderscope::known_answer {
namespace {

const Case kWindow[] = {
    // Without a warm-up from the first ask: 10 ms more for the first batch, which have
    // why = epoch.
    {"no_warmup",
     "workers=1 batch=1 cost=decode=10ms compute=4ms warmup=0 steps=30",
     {{.window = 304_ms,
       .compute = 120_ms,
       .stall = {{Cause::decode, 184_ms}},
       .why = {{Why::epoch, 10_ms}, {Why::capacity, 174_ms}}}},
     "decode"},
    // W = 3, T = 30, C = 5, a duration: bursts of three end at 30 n + 15. After 100 ms, that is
    // 155 - 10, the next multiple of three steps ends at 165: 120 ms after the end of the warm-up
    // at 45.
    {"duration_ends_with_a_burst",
     "workers=3 batch=1 cost=decode=30ms compute=5ms warmup=3 duration=100ms",
     {{.window = 120_ms,
       .compute = 60_ms,
       .stall = {{Cause::decode, 60_ms}},
       .why = {{Why::capacity, 60_ms}}}}},
    // Sample tasks and the trainer deliver batch by batch: 95 ms end with the tenth step after
    // 100.
    {"duration_of_sample_tasks",
     "task=sample workers=3 batch=3 prefetch-depth=1 cost=decode=10ms compute=4ms warmup=3 "
     "duration=95ms",
     {{.window = 100_ms,
       .compute = 40_ms,
       .stall = {{Cause::decode, 60_ms}},
       .why = {{Why::capacity, 60_ms}}}}},
    {"duration_without_workers",
     "workers=0 batch=1 cost=decode=10ms compute=4ms warmup=3 duration=100ms",
     {{.window = 100_ms,
       .compute = 40_ms,
       .stall = {{Cause::decode, 60_ms}},
       .why = {{Why::capacity, 60_ms}}}}},
    // The duration is over in the second of three epochs of ten.
    {"duration_within_epochs",
     "workers=1 batch=1 samples=10 epochs=3 persistent-workers=true cost=decode=10ms compute=4ms "
     "warmup=2 duration=100ms",
     {{.window = 100_ms,
       .compute = 40_ms,
       .stall = {{Cause::decode, 60_ms}},
       .why = {{Why::epoch, 6_ms}, {Why::capacity, 54_ms}}}}},
    // Two epochs of ten end before the hundred steps that were asked for.
    {"epochs_end_before_the_steps",
     "workers=1 batch=1 samples=10 epochs=2 persistent-workers=true cost=decode=10ms compute=4ms "
     "warmup=5 steps=100",
     {{.window = 150_ms,
       .compute = 60_ms,
       .stall = {{Cause::decode, 90_ms}},
       .why = {{Why::epoch, 6_ms}, {Why::capacity, 84_ms}}}}},
    // Four steps where five are warm-up: all of the run is the window, without verdict.
    {"input_ends_in_the_warmup",
     "workers=1 batch=1 samples=4 epochs=1 cost=decode=10ms compute=4ms warmup=5",
     {{.window = 44_ms,
       .compute = 16_ms,
       .stall = {{Cause::decode, 28_ms}},
       .why = {{Why::epoch, 10_ms}, {Why::capacity, 18_ms}}}},
     kNoVerdict},
    // Under 20 steps there is no verdict, however clear.
    {"too_few_steps",
     "workers=1 batch=1 cost=decode=10ms compute=4ms warmup=2 steps=19",
     {{.window = 190_ms,
       .compute = 76_ms,
       .stall = {{Cause::decode, 114_ms}},
       .why = {{Why::capacity, 114_ms}}}},
     kNoVerdict},
};
INSTANTIATE_TEST_SUITE_P(Window, KnownAnswer, testing::ValuesIn(kWindow), name_of_case);

// A warm-up by time holds every step whose compute ends within it: that of step 8 ends at 94, of
// step 9 at 104.
TEST(KnownAnswerWarmUp, CountsStepsThatEndWithinTime) {
  for (const auto& [warmup, steps] : {std::pair{"103ms", 9}, {"104ms", 10}, {"105ms", 10}}) {
    const RunRecord record = run("workers=1 batch=1 cost=decode=10ms compute=4ms steps=20 warmup=" +
                                 std::string(warmup));
    const RankRecord& rank = record.ranks[0];
    EXPECT_EQ(rank.warmup_steps, steps) << warmup;
    EXPECT_EQ(rank.steps(), 20) << warmup;
    EXPECT_EQ(rank.window_begin, steps * 10_ms + 4_ms) << warmup;
    EXPECT_EQ(rank.window(), 200_ms) << warmup;
  }
}

// @every=3 is every third sample of the rank's epoch: the last of 3, not of 2; of batches every
// third batch.
TEST(KnownAnswerInjection, SelectsEveryNthExecution) {
  const auto wall = [](const std::string& settings, Stage stage) {
    return run("workers=1 batch=1 compute=1ms warmup=0 " + settings).ranks[0].stages[stage].wall;
  };
  EXPECT_EQ(wall("cost=decode=10ms inject=decode=+10ms@every=3 steps=2", Stage::decode), 20_ms);
  EXPECT_EQ(wall("cost=decode=10ms inject=decode=+10ms@every=3 steps=3", Stage::decode), 40_ms);
  EXPECT_EQ(wall("cost=collate=10ms inject=collate=+10ms@every=3 steps=2", Stage::collate), 20_ms);
  EXPECT_EQ(wall("cost=collate=10ms inject=collate=+10ms@every=3 steps=6", Stage::collate), 80_ms);
  EXPECT_EQ(wall("cost=h2d=10ms inject=h2d=+10ms@every=3 steps=6", Stage::h2d), 80_ms);
  EXPECT_EQ(wall("cost=launch=10ms inject=compute=+10ms@every=3 steps=6", Stage::compute), 26_ms);
}

// Only executions that belong to measured steps count: 30 batches of 2 samples, whatever was made
// ahead or after.
TEST(KnownAnswerStages, CountsMeasuredStepsOnly) {
  const RunRecord record =
      run("workers=3 batch=2 stored-bytes=1MB delivered-bytes=2MB cost=read=1ms cost=decode=2ms "
          "cost=collate=3ms cost=transport=1ms cost=h2d=1ms cost=launch=1ms compute=4ms warmup=7 "
          "steps=30");
  const RankRecord& rank = record.ranks[0];
  const auto expect_stage = [&](Stage stage, std::int64_t count, Nanos wall, Nanos cpu,
                                Bytes bytes) {
    SCOPED_TRACE(std::string(name_of(stage)));
    EXPECT_EQ(rank.stages[stage].count, count);
    EXPECT_EQ(rank.stages[stage].wall, wall);
    EXPECT_EQ(rank.stages[stage].cpu, cpu);
    EXPECT_EQ(rank.stages[stage].bytes, bytes);
  };
  expect_stage(Stage::read, 60, 60_ms, 0, 60'000'000);
  expect_stage(Stage::decode, 60, 120_ms, 120_ms, 60'000'000);
  expect_stage(Stage::collate, 30, 90_ms, 90_ms, 120'000'000);
  expect_stage(Stage::transport, 30, 30_ms, 30_ms, 120'000'000);
  expect_stage(Stage::h2d, 30, 30_ms, 0, 120'000'000);
  expect_stage(Stage::launch, 30, 30_ms, 30_ms, 0);
  expect_stage(Stage::compute, 30, 120_ms, 0, 0);
  EXPECT_EQ(rank.samples, 60);
  EXPECT_EQ(rank.read_bytes, 60'000'000);
  EXPECT_EQ(rank.delivered_bytes, 120'000'000);
}

}  // namespace
}  // namespace loaderscope::known_answer
