// Batches that the simulated device makes: exact relations between times that depend on the clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "base/thread_meter.h"
#include "base/time_range.h"
#include "device/devices.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr LaneTask kCopyTask = {Stage::h2d, Lane::copy, 1 * kMillisecond};
constexpr LaneTask kDecodeTask = {Stage::gpu_decode, Lane::decode, 3 * kMillisecond};
constexpr LaneTask kAugmentTask = {Stage::gpu_augment, Lane::work, 2 * kMillisecond};
constexpr std::array kMakingTasks = {kCopyTask, kDecodeTask, kAugmentTask};
constexpr Nanos kComputeTime = 4 * kMillisecond;

class SimLanes : public testing::Test {
 protected:
  std::vector<std::unique_ptr<Device>> make(std::int64_t ranks = 1, bool barrier = false) {
    config_.trainer.device.value = "sim";
    config_.trainer.ranks.value = ranks;
    config_.trainer.sync_ranks.value = barrier;
    config_.image.decode.value.on = DecodeOn::hw;
    config_.image.augment_on.value = AugmentOn::gpu;
    return device_row("sim").make(config_, stop_);
  }

  // Returns the time of the call.
  static TimeRange submit(Device& device, std::int64_t step, Nanos compute = kComputeTime) {
    CopyJob nothing;
    nothing.step = step;
    EXPECT_TRUE(device.submit_copy(nothing));
    const Nanos before = monotonic_now();
    device.submit_compute(step, compute);
    return {before, monotonic_now()};
  }

  // The compute begins once it is submitted and all else has ended at `ready`.
  static void expect_begin(Nanos begin, TimeRange submitted, Nanos ready) {
    EXPECT_GE(begin, std::max(ready, submitted.begin));
    EXPECT_LE(begin, std::max(ready, submitted.end));
  }

  static DeviceTimes take(Device& device) {
    const auto times = device.collect();
    EXPECT_TRUE(times);
    return times.value_or(DeviceTimes{});
  }

  std::atomic<int> stop_{0};
  RunConfig config_;
};

TEST_F(SimLanes, RunsTasksOneAfterAnotherAndThenTheCompute) {
  const auto devices = make();
  devices[0]->make({kMakingTasks});
  const TimeRange submitted = submit(*devices[0], 0);
  ASSERT_TRUE(devices[0]->wait_computed(0));
  const DeviceTimes times = take(*devices[0]);
  for (std::size_t i = 0; i < kMakingTasks.size(); ++i)
    EXPECT_EQ(times.made.at(i).wall(), kMakingTasks.at(i).duration);
  EXPECT_EQ(times.made[1].begin, times.made[0].end);
  EXPECT_EQ(times.made[2].begin, times.made[1].end);
  EXPECT_FALSE(times.made[3].ran());
  EXPECT_EQ(times.ready, times.compute.begin);
  expect_begin(times.compute.begin, submitted, times.made[2].end);
  EXPECT_EQ(times.compute.wall(), kComputeTime);
}

TEST_F(SimLanes, BeginsComputeWhenSubmittedIfBatchIsMade) {
  const auto devices = make();
  devices[0]->make({std::span(kMakingTasks).first(1)});
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const Nanos before = monotonic_now();
  submit(*devices[0], 0);
  ASSERT_TRUE(devices[0]->wait_computed(0));
  const DeviceTimes times = take(*devices[0]);
  EXPECT_GE(times.compute.begin, before);
  EXPECT_GT(times.compute.begin, times.made[0].end);
}

// The tasks of the next batch fill the time of a compute, or what there is of it.
TEST_F(SimLanes, SlowsComputeByWorkDuringIt) {
  config_.declared.shared_speed.value = {{Stage::gpu_decode, 0.5, 0.5, ""}};
  const auto devices = make();
  const std::array decode = {kDecodeTask};
  devices[0]->make(MakeJob{});
  submit(*devices[0], 0, 8 * kMillisecond);
  devices[0]->make({decode});
  const TimeRange submitted = submit(*devices[0], 1);
  ASSERT_TRUE(devices[0]->wait_computed(1));
  const DeviceTimes first = take(*devices[0]), second = take(*devices[0]);
  const Interval& task = second.made[0];
  const Nanos together = std::max<Nanos>(
      std::min(first.compute.end, task.end) - std::max(first.compute.begin, task.begin), 0);
  EXPECT_NEAR(static_cast<double>(first.compute.wall()),
              static_cast<double>(8 * kMillisecond + together / 2), 10);
  EXPECT_NEAR(static_cast<double>(task.wall()),
              static_cast<double>(kDecodeTask.duration + together / 2), 10);
  expect_begin(second.compute.begin, submitted, std::max(first.compute.end, task.end));
}

// Each batch in turn keeps an engine busy: the engine is the limit.
TEST_F(SimLanes, FollowsManyBatches) {
  const auto devices = make();
  constexpr std::int64_t kSteps = 8;
  std::thread maker([&] {
    for (std::int64_t i = 0; i < kSteps; ++i) devices[0]->make({kMakingTasks});
  });
  maker.join();
  std::vector<DeviceTimes> all;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    submit(*devices[0], step, kMillisecond);
    if (step > 1) {
      ASSERT_TRUE(devices[0]->wait_computed(step - 2));
    }
    while (const auto times = devices[0]->collect()) all.push_back(*times);
  }
  ASSERT_TRUE(devices[0]->wait_computed(kSteps - 1));
  while (const auto times = devices[0]->collect()) all.push_back(*times);
  ASSERT_EQ(std::ssize(all), kSteps);
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_GE(all[i].made[1].begin, all[i - 1].made[1].end);
    EXPECT_GE(all[i].compute.begin, all[i - 1].compute.end);
    EXPECT_GE(all[i].compute.begin, all[i].made[2].end);
  }
}

TEST_F(SimLanes, BeginsAllRanksWhenTheLastHasItsBatch) {
  const auto devices = make(2, true);
  devices[0]->make({std::span(kMakingTasks).first(1)});
  devices[1]->make({kMakingTasks});
  const TimeRange first = submit(*devices[0], 0), second = submit(*devices[1], 0);
  for (const auto& device : devices) ASSERT_TRUE(device->wait_computed(0));
  const DeviceTimes early = take(*devices[0]), late = take(*devices[1]);
  EXPECT_EQ(early.compute.begin, late.compute.begin);
  expect_begin(early.compute.begin, {first.begin, second.end},
               std::max(early.made[0].end, late.made[2].end));
}

// A task of another batch, which still runs, puts off no end: not even up to the next look, 50 ms
// later.
TEST_F(SimLanes, EndsWaitWithItsStep) {
  const auto devices = make();
  constexpr LaneTask kLong = {Stage::gpu_decode, Lane::decode, 600 * kSecond};
  constexpr std::int64_t kSteps = 20;
  for (std::int64_t step = 0; step < kSteps; ++step) devices[0]->make(MakeJob{});
  devices[0]->make({std::array{kLong}});
  const Nanos before = monotonic_now();
  for (std::int64_t step = 0; step < kSteps; ++step) {
    submit(*devices[0], step, kMillisecond);
    ASSERT_TRUE(devices[0]->wait_computed(step));
  }
  EXPECT_LT(monotonic_now(), before + 500 * kMillisecond);
}

TEST_F(SimLanes, EndsWaitAtStop) {
  const auto devices = make();
  const std::array<LaneTask, 1> endless = {
      LaneTask{Stage::gpu_decode, Lane::decode, 3600 * kSecond}};
  devices[0]->make({endless});
  submit(*devices[0], 0);
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop_.store(1);
  });
  EXPECT_FALSE(devices[0]->wait_computed(0));
  stopper.join();
}

TEST_F(SimLanes, MakesNothingOnOtherDevices) {
  const auto devices = device_row("null").make(config_, stop_);
  EXPECT_THROW(devices[0]->make({kMakingTasks}), RunError);
}

}  // namespace
}  // namespace loaderscope
