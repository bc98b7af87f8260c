// Ready batches in the live view of a run. progress_test.cpp tests its lines and widths.
#include "cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loaderscope {
namespace {

using ::testing::HasSubstr;

// 100 ms of which 60 compute and 30 wait for decode; its batch was ready for 50 ms.
StepRow row_from(Nanos begin) {
  StepRow row;
  row.samples = 8;
  row.idle_begin = begin;
  row.compute_begin = begin + 40 * kMillisecond;
  row.compute_end = begin + 100 * kMillisecond;
  row.stall[Cause::decode] = 30 * kMillisecond;
  row.stall[Cause::launch] = 10 * kMillisecond;
  row.ask = row.take = begin + 40 * kMillisecond;
  row.deliverable = row.take - 50 * kMillisecond;
  return row;
}

TEST(LiveAccount, ReportsBusyShareAndReadyBatches) {
  RunningAccountObserver booked;
  EXPECT_TRUE(live_lines(booked.account(), 100).empty());
  for (int step = 0; step < 10; ++step) booked.booked(0, row_from(step * 100 * kMillisecond));
  const std::vector<std::string> lines = live_lines(booked.account(), 100);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].substr(0, 12), "busy 60.0 % ");
  EXPECT_THAT(lines[0], HasSubstr("80.0 samples/s, a batch was ready 100.0 %, 0.5 queued"));
  EXPECT_EQ(lines[1], "waits for decode 30.0 %, launch 10.0 %");
}

// Each rank has its own queue, and the view shows the mean queue.
TEST(LiveAccount, ReportsMeanQueueOfSeveralRanks) {
  RunningAccountObserver booked;
  for (int rank = 0; rank < 2; ++rank) booked.booked(rank, row_from(0));
  EXPECT_THAT(live_lines(booked.account(), 100)[0], HasSubstr("160 samples/s"));
  EXPECT_THAT(live_lines(booked.account(), 100)[0], HasSubstr("0.4 queued"));
}

// The first batch waits long while a program compiles its model.
TEST(LiveAccount, CountsReadyTimeInsideWindowOnly) {
  RunningAccountObserver booked;
  StepRow row = row_from(0);
  row.deliverable = row.take - 50 * kSecond;
  booked.booked(0, row);
  EXPECT_THAT(live_lines(booked.account(), 100)[0], HasSubstr("0.4 queued"));
}

// Each process of a program has its own fold.
TEST(LiveAccount, SumsSeparatelyFoldedRanks) {
  RunningAccountObserver one, other;
  one.booked(0, row_from(0));
  other.booked(0, row_from(0));
  RunningAccount both;
  both.add(one.account());
  both.add(other.account());
  EXPECT_THAT(live_lines(both, 100)[0], HasSubstr("160 samples/s"));
  EXPECT_THAT(live_lines(both, 100)[0], HasSubstr("0.4 queued"));
  both.samples = 0;
  EXPECT_THAT(live_lines(both, 100)[0], HasSubstr("20.0 batches/s"));
}

}  // namespace
}  // namespace loaderscope
