// The simulated device: what follows from what was submitted, in real but short times.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "device/devices.h"

namespace loaderscope {
namespace {

constexpr Nanos kCopy = 3 * kMillisecond, kCompute = 4 * kMillisecond, kHour = 3600 * kSecond;

class SimDeviceTest : public testing::Test {
 protected:
  std::vector<std::unique_ptr<Device>> make(CopyMode copy, std::int64_t ranks = 1,
                                            bool barrier = false) {
    config_.trainer.device.value = "sim";
    config_.trainer.copy.value = copy;
    config_.trainer.ranks.value = ranks;
    config_.trainer.sync_ranks.value = barrier;
    return find_row<DeviceRow>("sim", device_table()).make(config_, stop_);
  }

  static CopyJob copy_job(std::int64_t step, Nanos duration, bool caller_copies = false) {
    CopyJob job;
    job.step = step;
    job.duration = duration;
    job.caller_copies = caller_copies;
    return job;
  }

  // Steps submitted one right after the other.
  static std::vector<DeviceTimes> run(Device& device, std::int64_t steps, Nanos copy, Nanos compute,
                                      bool caller_copies = false) {
    std::vector<DeviceTimes> times;
    for (std::int64_t step = 0; step < steps; ++step) {
      EXPECT_TRUE(device.submit_copy(copy_job(step, copy, caller_copies)));
      device.submit_compute(step, compute);
      if (step > 1) {
        EXPECT_TRUE(device.wait_computed(step - 2));
      }
      while (const auto known = device.collect()) times.push_back(*known);
    }
    EXPECT_TRUE(device.wait_computed(steps - 1));
    while (const auto known = device.collect()) times.push_back(*known);
    EXPECT_EQ(std::ssize(times), steps);
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_EQ(times[i].step, static_cast<std::int64_t>(i));
      EXPECT_EQ(times[i].compute.wall(), compute);
      if (i > 0) {
        EXPECT_GE(times[i].compute.begin, times[i - 1].compute.end);
      }
      if (times[i].copy.ran()) {
        EXPECT_GE(times[i].compute.begin, times[i].copy.end);
      }
      EXPECT_EQ(times[i].ready, times[i].compute.begin);
    }
    return times;
  }

  std::atomic<int> stop_{0};
  RunConfig config_;
};

TEST_F(SimDeviceTest, AlternatesCopiesAndComputesOnOneStream) {
  const auto devices = make(CopyMode::async);
  const std::vector<DeviceTimes> times = run(*devices[0], 6, kCopy, kCompute);
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(times[i].copy.wall(), kCopy);
    EXPECT_EQ(times[i].compute.begin, times[i].copy.end);
    if (i > 0) {
      EXPECT_GE(times[i].copy.begin, times[i - 1].compute.end);
    }
  }
}

TEST_F(SimDeviceTest, OverlapsCopyWithComputeOnOwnStream) {
  config_.trainer.in_flight.value = 6;
  const auto devices = make(CopyMode::stream);
  for (std::int64_t step = 0; step < 6; ++step) {  // all are submitted before the first has ended
    EXPECT_TRUE(devices[0]->submit_copy(copy_job(step, kHour)));
    devices[0]->submit_compute(step, kHour);
  }
  DeviceTimes before = devices[0]->collect().value();
  for (int step = 1; step < 6; ++step) {
    const DeviceTimes times = devices[0]->collect().value();
    EXPECT_EQ(times.copy.begin, before.copy.end);
    EXPECT_EQ(times.compute.begin, before.compute.end);
    EXPECT_LT(times.copy.begin, before.compute.end);
    before = times;
  }
}

TEST_F(SimDeviceTest, SkipsEmptyCopies) {
  const auto devices = make(CopyMode::async);
  for (const DeviceTimes& times : run(*devices[0], 4, 0, kMillisecond))
    EXPECT_FALSE(times.copy.ran());
}

TEST_F(SimDeviceTest, WaitsLastUntilTheEnd) {
  const auto devices = make(CopyMode::sync);
  Device& device = *devices[0];
  const Nanos begin = monotonic_now();
  ASSERT_TRUE(device.submit_copy(copy_job(0, kCopy)));
  EXPECT_FALSE(device.collect());
  ASSERT_TRUE(device.wait_copied(0));
  EXPECT_GE(monotonic_now() - begin, kCopy);
  device.submit_compute(0, kCompute);
  ASSERT_TRUE(device.wait_computed(0));
  EXPECT_GE(monotonic_now() - begin, kCopy + kCompute);
}

TEST_F(SimDeviceTest, BlocksCallerDuringPageableCopy) {
  for (const CopyMode mode : {CopyMode::async, CopyMode::stream}) {
    const auto devices = make(mode);
    std::vector<std::byte> host(1 << 16, std::byte{7});
    CopyJob job = copy_job(0, kCopy, true);
    job.host = host.data();
    job.bytes = std::ssize(host);
    const Nanos begin = monotonic_now();
    ASSERT_TRUE(devices[0]->submit_copy(job));
    EXPECT_GE(monotonic_now() - begin, kCopy);
    devices[0]->submit_compute(0, kCompute);
    const auto times = devices[0]->collect();
    ASSERT_TRUE(times);
    EXPECT_GE(times->copy.wall(), kCopy);
    EXPECT_GE(times->compute.begin, times->copy.end);
  }
}

// Times are handed out early and steps are forgotten; what the trainer waits for is not.
TEST_F(SimDeviceTest, WaitsForTheLastStepsInFlightAfterTheyWereCollected) {
  for (const std::int64_t in_flight : {1, 2, 5}) {
    config_.trainer.in_flight.value = in_flight;
    const auto devices = make(CopyMode::async);
    Device& device = *devices[0];
    for (std::int64_t step = 0; step < 20; ++step) {
      if (step >= in_flight) {
        ASSERT_TRUE(device.wait_computed(step - in_flight));
      }
      ASSERT_TRUE(device.submit_copy(copy_job(step, 0)));
      device.submit_compute(step, kMillisecond);
      Nanos end = 0;
      while (const auto times = device.collect()) end = times->compute.end;
      if (step >= in_flight) continue;
      EXPECT_GT(end, 0);
    }
    const Nanos before = monotonic_now();
    ASSERT_TRUE(device.wait_computed(19));
    EXPECT_GE(monotonic_now(), before);
  }
}

TEST_F(SimDeviceTest, BeginsComputesOfStepTogetherAtBarrier) {
  for (const CopyMode mode : {CopyMode::sync, CopyMode::async, CopyMode::stream}) {
    const auto devices = make(mode, 3, true);
    std::vector<std::vector<DeviceTimes>> times(3);
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < 3; ++rank) {
      threads.emplace_back([&, rank] {
        use_exact_sleeps();
        for (std::int64_t step = 0; step < 8; ++step) {
          if (step > 1) {
            EXPECT_TRUE(devices[rank]->wait_computed(step - 2));
          }
          sleep_until(monotonic_now() + static_cast<Nanos>(rank) * kMillisecond);
          EXPECT_TRUE(devices[rank]->submit_copy(copy_job(step, kMillisecond)));
          if (mode == CopyMode::sync) {
            EXPECT_TRUE(devices[rank]->wait_copied(step));
          }
          devices[rank]->submit_compute(step, kMillisecond);
          while (const auto known = devices[rank]->collect()) times[rank].push_back(*known);
        }
        EXPECT_TRUE(devices[rank]->wait_computed(7));
        while (const auto known = devices[rank]->collect()) times[rank].push_back(*known);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t step = 0; step < 8; ++step) {
      Nanos last = 0;
      for (const auto& rank_times : times) {
        ASSERT_EQ(rank_times.size(), 8U);
        EXPECT_EQ(rank_times[step].compute.begin, times[0][step].compute.begin);
        EXPECT_LE(rank_times[step].ready, rank_times[step].compute.begin);
        last = std::max(last, rank_times[step].ready);
      }
      EXPECT_EQ(times[0][step].compute.begin, last);
    }
  }
}

// Other processes are ready at once, and say so late.
class LateGate : public StepBarrier {
 public:
  void ready(std::int64_t step, Nanos at) override { begins_.emplace_back(step, at); }
  std::optional<Nanos> find_begin(std::int64_t step) override {
    return step < notified_ ? std::optional(begins_.at(static_cast<std::size_t>(step)).second)
                            : std::nullopt;
  }
  void on_begin(std::function<void()> call) override { call_ = std::move(call); }
  void notify() {
    ++notified_;
    call_();
  }

 private:
  std::vector<std::pair<std::int64_t, Nanos>> begins_;
  std::int64_t notified_ = 0;
  std::function<void()> call_;
};

TEST_F(SimDeviceTest, ReportsDelayOfNotifications) {
  LateGate gate;
  config_.trainer.ranks.value = 2;
  config_.trainer.sync_ranks.value = true;
  const auto devices = make_barrier_devices(config_, stop_, gate);
  std::vector<DeviceTimes> times;
  for (std::int64_t step = 0; step < 2; ++step) {
    for (const auto& device : devices) {
      ASSERT_TRUE(device->submit_copy(copy_job(step, 0)));
      device->submit_compute(step, kMillisecond);
    }
    EXPECT_FALSE(devices[0]->collect());
    sleep_until(monotonic_now() + 10 * kMillisecond);
    gate.notify();
    for (const auto& device : devices) {
      ASSERT_TRUE(device->wait_computed(step));
      times.push_back(device->collect().value());
    }
  }
  EXPECT_EQ(times[2].compute.begin, times[3].compute.begin);
  const DeviceFacts facts = devices[0]->facts();
  ASSERT_EQ(facts.metrics.size(), 1U);
  EXPECT_EQ(facts.metrics[0].name, "rendezvous.notification_delay_s");
  EXPECT_GE(facts.metrics[0].value, 0.018);  // twice 9 ms at least
  EXPECT_TRUE(devices[1]->facts().metrics.empty());
}

TEST_F(SimDeviceTest, EndsEveryWaitOnStop) {
  const auto devices = make(CopyMode::async, 2, true);
  std::thread later([&] {
    sleep_until(monotonic_now() + 20 * kMillisecond);
    stop_ = 1;
  });
  Device& device = *devices[0];
  ASSERT_TRUE(device.submit_copy(copy_job(0, kMillisecond)));
  device.submit_compute(0, kMillisecond);
  const Nanos begin = monotonic_now();
  EXPECT_FALSE(device.wait_computed(0));  // the other rank never comes
  EXPECT_FALSE(device.collect());
  EXPECT_FALSE(device.submit_copy(copy_job(1, kHour, true)));
  EXPECT_LT(monotonic_now() - begin, kHour);
  later.join();
}

}  // namespace
}  // namespace loaderscope
