#include "device/device_timeline.h"

#include <gtest/gtest.h>

namespace loaderscope {
namespace {

// Submits a step with a copy of 5 and its compute, both at `now`.
void submit(DeviceTimeline& timeline, Nanos now) {
  timeline.submit_copy(now, 5);
  timeline.submit_compute(now);
}

TEST(DeviceTimeline, BeginsComputeAfterItsCopy) {
  DeviceTimeline timeline(false);
  timeline.submit_copy(10, 5);
  EXPECT_FALSE(timeline.ready());  // no compute yet
  EXPECT_EQ(timeline.copy_end(), 15);
  timeline.submit_compute(12);
  EXPECT_EQ(timeline.ready(), 15);
  const Interval copy = timeline.begin_compute();
  EXPECT_EQ(copy.begin, 10);
  EXPECT_EQ(copy.end, 15);
  EXPECT_FALSE(timeline.ready());  // no other step
}

TEST(DeviceTimeline, BeginsNextCopyAfterComputeOnOneStream) {
  DeviceTimeline timeline(false);
  submit(timeline, 10);
  submit(timeline, 11);
  EXPECT_EQ(timeline.find_copy(1), nullptr);
  EXPECT_EQ(timeline.copy_end(), kNever);
  EXPECT_EQ(timeline.copy_queue_free(), kNever);
  timeline.begin_compute();
  EXPECT_FALSE(timeline.ready());
  timeline.end_compute(40);
  ASSERT_NE(timeline.find_copy(0), nullptr);
  EXPECT_EQ(timeline.find_copy(0)->begin, 40);
  EXPECT_EQ(timeline.ready(), 45);
  timeline.begin_compute();
  timeline.end_compute(60);
  EXPECT_EQ(timeline.copy_queue_free(), 60);
}

TEST(DeviceTimeline, OverlapsCopyWithComputeOnOwnStream) {
  DeviceTimeline timeline(true);
  submit(timeline, 10);
  timeline.begin_compute();
  submit(timeline, 11);
  EXPECT_EQ(timeline.copy_end(), 20);  // after the copy before, which ends at 15
  timeline.end_compute(18);
  EXPECT_EQ(timeline.ready(), 20);
  EXPECT_EQ(timeline.copy_queue_free(), 20);
}

TEST(DeviceTimeline, WaitsForComputeBeforeOfStepWithoutCopy) {
  DeviceTimeline timeline(false);
  submit(timeline, 10);
  timeline.begin_compute();
  timeline.submit_copy(12, 0);
  timeline.submit_compute(13);
  EXPECT_EQ(timeline.copy_end(), 12);
  timeline.end_compute(30);
  EXPECT_EQ(timeline.ready(), 30);
  EXPECT_FALSE(timeline.begin_compute().ran());
}

TEST(DeviceTimeline, TakesCopyOfTrainersThread) {
  DeviceTimeline timeline(false);
  EXPECT_EQ(timeline.copy_queue_free(), 0);
  timeline.add_copied({20, 27, 3, 1});
  timeline.submit_compute(28);
  EXPECT_EQ(timeline.copy_end(), 27);
  EXPECT_EQ(timeline.ready(), 28);
  EXPECT_EQ(timeline.begin_compute().cpu, 3);
}

}  // namespace
}  // namespace loaderscope
