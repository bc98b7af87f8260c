// Lanes of a device in virtual time. Known answers are derived in the comments.
#include "device/production_lanes.h"

#include <gtest/gtest.h>

#include <vector>

namespace loaderscope {
namespace {

constexpr Nanos ms(double n) { return static_cast<Nanos>(n * kMillisecond); }

// Runs the lanes until nothing is left to end. Returns the runs of the oldest batch.
std::array<Interval, kMaxDeviceWork> make_oldest(ProductionLanes& lanes) {
  while (!lanes.is_oldest_made()) lanes.advance(lanes.next_end());
  return lanes.take_oldest();
}

TEST(ProductionLanes, RunsTasksOfBatchOneAfterAnother) {
  ProductionLanes lanes;
  const std::vector<LaneTask> tasks = {{Stage::h2d, Lane::copy, ms(1)},
                                       {Stage::gpu_decode, Lane::decode, ms(5)},
                                       {Stage::gpu_augment, Lane::work, ms(2)}};
  lanes.submit(ms(10), tasks);
  const auto runs = make_oldest(lanes);
  EXPECT_EQ(runs[0], (Interval{ms(10), ms(11)}));
  EXPECT_EQ(runs[1], (Interval{ms(11), ms(16)}));
  EXPECT_EQ(runs[2], (Interval{ms(16), ms(18)}));
}

// While the first batch is decoded, the second is copied. It is decoded when the engines are free.
TEST(ProductionLanes, RunsLanesAtTheSameTime) {
  ProductionLanes lanes;
  const std::vector<LaneTask> tasks = {{Stage::h2d, Lane::copy, ms(1)},
                                       {Stage::gpu_decode, Lane::decode, ms(5)}};
  lanes.submit(0, tasks);
  lanes.submit(0, tasks);
  make_oldest(lanes);
  const auto second = make_oldest(lanes);
  EXPECT_EQ(second[0], (Interval{ms(1), ms(2)}));
  EXPECT_EQ(second[1], (Interval{ms(6), ms(11)}));
}

// Computes of 10 ms follow each other, and each has a task of 2 ms alone. Returns the time of the
// last of many steps.
Nanos steady_step(SpeedTogether speed) {
  ProductionLanes lanes;
  lanes.set_speed(Stage::gpu_augment, speed);
  const std::vector<LaneTask> task = {{Stage::gpu_augment, Lane::work, ms(2)}};
  Nanos begin = 0, end = 0;
  for (int step = 0; step < 20; ++step) {
    begin = end;
    lanes.begin_compute(begin, ms(10));
    lanes.submit(begin, task);
    while (true) {
      lanes.advance(lanes.next_end());
      if (const auto ended = lanes.take_compute_end()) {
        end = *ended;
        break;
      }
    }
    EXPECT_TRUE(lanes.is_oldest_made());
    lanes.take_oldest();
  }
  return end - begin;
}

// A task of `a` alone takes a/P during the compute, which loses (1 - C) of that time.
TEST(ProductionLanes, SlowsComputeByItsShare) {
  EXPECT_EQ(steady_step({1'000'000, 1'000'000}), ms(10));
  EXPECT_EQ(steady_step({500'000, 500'000}), ms(12));
  EXPECT_EQ(steady_step({800'000, 500'000}), ms(10.8));
}

// The compute of 10 ms begins at 1 ms. The task has done 1 of its 4 ms by then, and takes 6 ms for
// the rest, in which the compute does 4.5 of its 10 ms.
TEST(ProductionLanes, SharesOnlyWhileBothRun) {
  ProductionLanes lanes;
  lanes.set_speed(Stage::gpu_decode, {750'000, 500'000});
  lanes.submit(0, std::vector<LaneTask>{{Stage::gpu_decode, Lane::decode, ms(4)}});
  lanes.begin_compute(ms(1), ms(10));
  const auto runs = make_oldest(lanes);
  EXPECT_EQ(runs[0].end, ms(7));
  EXPECT_EQ(lanes.next_end(), ms(12.5));
}

// A compute without any speed would end after millions of years. It ends when the task has ended.
TEST(ProductionLanes, LetsLongComputeWait) {
  ProductionLanes lanes;
  lanes.set_speed(Stage::gpu_decode, {0, 1'000'000});
  const Nanos month = 30 * 24 * 3600 * kSecond;
  lanes.begin_compute(0, month);
  lanes.submit(0, std::vector<LaneTask>{{Stage::gpu_decode, Lane::decode, ms(4)}});
  EXPECT_EQ(lanes.next_end(), ms(4));
  lanes.advance(ms(4));
  EXPECT_NEAR(static_cast<double>(lanes.next_end() - month), static_cast<double>(ms(4)), 10);
}

TEST(ProductionLanes, EndsWorkWithoutDurationAtOnce) {
  ProductionLanes lanes;
  lanes.submit(5, std::vector<LaneTask>{{Stage::gpu_decode, Lane::decode, 0},
                                        {Stage::gpu_augment, Lane::work, 0}});
  ASSERT_TRUE(lanes.is_oldest_made());
  EXPECT_EQ(lanes.take_oldest()[1], (Interval{5, 5}));
  lanes.begin_compute(6, 0);
  EXPECT_EQ(lanes.take_compute_end(), 6);
  EXPECT_EQ(lanes.take_compute_end(), std::nullopt);
  EXPECT_EQ(lanes.next_end(), kNever);
}

}  // namespace
}  // namespace loaderscope
