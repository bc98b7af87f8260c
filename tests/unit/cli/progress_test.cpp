#include "cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loaderscope {
namespace {

TEST(Progress, ReportsRateAndTimeLeft) {
  EXPECT_EQ(progress_line("steps", {}, {1260, 0.42, 4, 4}),
            "42 %, 1260 steps, 315 steps/s, 5.524 s left");
  EXPECT_EQ(progress_line("files", {}, {}), "no files yet");
  EXPECT_EQ(progress_line("steps", {}, {5, 1.5, 1, 1}), "100 %, 5 steps, 5 steps/s, 0 ns left");
  EXPECT_EQ(progress_line("files", {}, {300, 0, 2, 2}), "300 files, 150 files/s");
}

// Imports and warm-up took 60 s before the first of 1000 steps: no "16 h left".
TEST(Progress, CountsFromWhereSomethingWasFirstDone) {
  EXPECT_EQ(progress_line("steps", {1, 0.001, 60, 60}, {1, 0.001, 60, 60}), "0 %, 1 steps");
  EXPECT_EQ(progress_line("steps", {1, 0.001, 60, 60}, {101, 0.101, 70, 70}),
            "10 %, 101 steps, 10 steps/s, 89.90 s left");
}

// A program took 2 s for its last 60 steps, and puts things away for 8 s.
TEST(Progress, ExcludesTimeAfterLastStepFromRate) {
  EXPECT_EQ(progress_line("steps", {1, 0, 60, 60}, {61, 0, 70, 62}), "61 steps, 30 steps/s");
  EXPECT_EQ(progress_line("steps", {1, 0, 60, 60}, {61, 0, 70, 60.1}), "61 steps");
}

// One that runs to its end, and no longer than --duration.
TEST(Progress, ReportsUpperBoundOfTimeLeft) {
  EXPECT_EQ(progress_line("steps", {1, 0.001, 60, 60}, {101, 0.101, 70, 70, true}),
            "10 %, 101 steps, 10 steps/s, at most 89.90 s left");
}

// The lines before are gone, those that are too long are cut, and the cursor stays in the last one.
TEST(Progress, OverwritesItsOldLines) {
  EXPECT_EQ(redrawn(0, {"one", "two"}, 80), "\r\033[Jone\ntwo");
  EXPECT_EQ(redrawn(2, {"0123456789"}, 4), "\r\033[1A\033[J0123");
  EXPECT_EQ(redrawn(3, {}, 80), "\r\033[2A\033[J");
}

StepRow booked_step(Nanos decode, Nanos compute) {
  StepRow row;
  row.samples = 64;
  row.ask = 1;
  row.deliverable = decode;
  row.compute_begin = decode;
  row.compute_end = decode + compute;
  row.stall[Cause::decode] = decode;
  return row;
}

TEST(LiveAccount, SaysHowBusyAndWhatIsWaitedForAtEightyColumns) {
  RunningAccountObserver booked;
  EXPECT_TRUE(live_lines(booked.account(), 80).empty());
  StepRow warm_up = booked_step(kSecond, kSecond);
  warm_up.warmup = true;
  booked.booked(0, warm_up);
  EXPECT_TRUE(live_lines(booked.account(), 80).empty());
  for (int i = 0; i < 10; ++i) booked.booked(0, booked_step(75 * kMillisecond, 25 * kMillisecond));
  EXPECT_THAT(
      live_lines(booked.account(), 80),
      testing::ElementsAre(
          "busy 25.0 % [####...........] 640 samples/s, a batch was ready 0.0 %, 0.0 queued",
          "waits for decode 75.0 %"));
  for (const std::size_t width : {20U, 40U, 60U, 80U, 200U}) {
    for (const std::string& line : live_lines(booked.account(), width))
      EXPECT_LE(line.size(), width);
  }
}

}  // namespace
}  // namespace loaderscope
