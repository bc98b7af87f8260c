#include "contract/device_contract.h"

#include <array>
#include <cmath>
#include <cstring>
#include <thread>

#include "loaderscope/device.h"
#include "unit/device/run_steps.h"

namespace loaderscope {
namespace {

constexpr Nanos kCopy = 2 * kMillisecond, kCompute = 3 * kMillisecond, kHour = 3600 * kSecond;
constexpr CopyMode kCopyModes[] = {CopyMode::sync, CopyMode::async, CopyMode::stream};

CopyJob make_copy_job(std::int64_t step, Nanos duration, bool caller_copies = false) {
  CopyJob job;
  job.step = step;
  job.duration = duration;
  job.caller_copies = caller_copies;
  return job;
}

}  // namespace

DeviceCase case_of_row(const DeviceRow& row, Nanos slack) {
  DeviceCase one;
  one.name = row.row.name;
  one.kind = device_kind(row.row.name);
  one.slack = slack;
  one.reason_not_available = [&row] { return row.row.reason_not_available(); };
  one.make = [&row](const RunConfig& config, const std::atomic<int>& stop) {
    return DeviceRun{row.make(config, stop)};
  };
  return one;
}

void DeviceContract::make() {
  run_ = {};  // a device goes before the next one comes
  run_ = GetParam().make(config_, stop_);
}

Nanos DeviceContract::slack() const {
  double error_s = 0;
  for (const Metric& metric : run_.devices.front()->facts().metrics) {
    if (metric.name.starts_with("gpu.anchor_")) error_s += metric.value;
  }
  return GetParam().slack + std::llround(error_s * 1e9);
}

// --- order ---

TEST_P(DeviceContract, PlacesCopyBeforeCompute) {
  for (const CopyMode mode : kCopyModes) {
    SCOPED_TRACE(name_of(mode));
    config_.trainer.copy.value = mode;
    make();
    for (const DeviceTimes& step :
         run_steps(device(), config_, 6, make_copy_job(0, kCopy), kCompute)) {
      EXPECT_EQ(step.copy.ran(), computes());
      if (!step.copy.ran()) continue;
      expect_order(step.copy.begin, step.copy.end);
      expect_order(step.copy.end, step.compute.begin);
    }
  }
}

TEST_P(DeviceContract, KeepsComputesInOrderOfSteps) {
  for (const CopyMode mode : kCopyModes) {
    for (const std::int64_t in_flight : {1, 2, 5}) {
      SCOPED_TRACE(in_flight);
      config_.trainer.copy.value = mode;
      config_.trainer.in_flight.value = in_flight;
      make();
      const auto times = run_steps(device(), config_, 8, make_copy_job(0, kCopy), kCompute);
      for (std::size_t i = 1; i < times.size(); ++i) {
        expect_order(times[i - 1].compute.end, times[i].compute.begin);
        if (times[i].copy.ran()) expect_order(times[i - 1].copy.end, times[i].copy.begin);
      }
    }
  }
}

TEST_P(DeviceContract, CopiesBetweenComputesOnOneStream) {
  for (const CopyMode mode : {CopyMode::sync, CopyMode::async}) {
    config_.trainer.copy.value = mode;
    make();
    const auto times = run_steps(device(), config_, 6, make_copy_job(0, kCopy), kCompute);
    for (std::size_t i = 1; i < times.size(); ++i) {
      if (times[i].copy.ran()) expect_order(times[i - 1].compute.end, times[i].copy.begin);
    }
  }
}

TEST_P(DeviceContract, ReportsTimesBetweenSubmissionAndEndOfWait) {
  make();
  for (std::int64_t step = 0; step < 4; ++step) {
    const Nanos begin = now();
    ASSERT_TRUE(device().submit_copy(make_copy_job(step, kCopy)));
    device().submit_compute(step, kCompute);
    ASSERT_TRUE(device().wait_computed(step));
    const Nanos end = now();
    const auto times = device().collect();
    ASSERT_TRUE(times);
    if (times->copy.ran()) expect_order(begin, times->copy.begin);
    expect_order(begin, times->ready);
    expect_order(times->ready, times->compute.begin);
    expect_order(times->compute.begin, times->compute.end);
    expect_order(times->compute.end, end);
    if (times->augment.ran()) expect_order(times->augment.end, times->compute.begin);
  }
}

TEST_P(DeviceContract, TakesAtLeastTheDeclaredTimes) {
  make();
  for (const DeviceTimes& step :
       run_steps(device(), config_, 4, make_copy_job(0, kCopy), kCompute)) {
    if (computes()) {
      expect_order(kCopy, step.copy.wall());
      expect_order(kCompute, step.compute.wall());
    } else {
      EXPECT_FALSE(step.copy.ran());
      EXPECT_EQ(step.compute.wall(), 0);
    }
  }
}

TEST_P(DeviceContract, ReportsNoCopyWithoutBytesOrDuration) {
  make();
  CopyJob job = make_copy_job(0, 0);
  for (const DeviceTimes& step : run_steps(device(), config_, 3, job, kCompute))
    EXPECT_FALSE(step.copy.ran());
}

// --- waiting ---

TEST_P(DeviceContract, EndsCopyByCallerBeforeItReturns) {
  for (const CopyMode mode : kCopyModes) {
    SCOPED_TRACE(name_of(mode));
    config_.trainer.copy.value = mode;
    make();
    for (std::int64_t step = 0; step < 3; ++step) {
      ASSERT_TRUE(device().submit_copy(make_copy_job(step, kCopy, true)));
      const Nanos returned = now();
      device().submit_compute(step, kCompute);
      ASSERT_TRUE(device().wait_computed(step));
      const auto times = device().collect();
      ASSERT_TRUE(times);
      if (times->copy.ran()) expect_order(times->copy.end, returned);
    }
  }
}

TEST_P(DeviceContract, WaitsUntilCopyHasEnded) {
  make();
  ASSERT_TRUE(device().submit_copy(make_copy_job(0, kCopy)));
  ASSERT_TRUE(device().wait_copied(0));
  const Nanos returned = now();
  device().submit_compute(0, 0);
  ASSERT_TRUE(device().wait_computed(0));
  const auto times = device().collect();
  ASSERT_TRUE(times);
  if (times->copy.ran()) expect_order(times->copy.end, returned);
}

TEST_P(DeviceContract, WaitsAgainForCollectedSteps) {
  for (const std::int64_t in_flight : {1, 2, 5}) {
    config_.trainer.in_flight.value = in_flight;
    make();
    run_steps(device(), config_, 12, make_copy_job(0, 0), kMillisecond);
    for (std::int64_t step = 12 - in_flight; step < 12; ++step)
      EXPECT_TRUE(device().wait_computed(step));
  }
}

TEST_P(DeviceContract, SubmitsStepsInFlightWithoutWaiting) {
  config_.trainer.in_flight.value = 3;
  make();
  for (std::int64_t step = 0; step < 3; ++step) {
    ASSERT_TRUE(device().submit_copy(make_copy_job(step, kHour)));
    device().submit_compute(step, kHour);
  }
  stop_ = 1;  // a device that had waited would be here hours later
}

TEST_P(DeviceContract, CollectsEachStepOnce) {
  make();
  EXPECT_FALSE(device().collect());
  ASSERT_TRUE(device().submit_copy(make_copy_job(0, kCopy)));
  EXPECT_FALSE(device().collect());
  device().submit_compute(0, kCompute);
  ASSERT_TRUE(device().wait_computed(0));
  const auto times = device().collect();
  ASSERT_TRUE(times);
  EXPECT_EQ(times->step, 0);
  EXPECT_FALSE(device().collect());
}

TEST_P(DeviceContract, RunsOnAnotherThreadThanItWasMadeOn) {
  make();
  std::thread([&] { run_steps(device(), config_, 4, make_copy_job(0, kCopy), kCompute); }).join();
  for (const Metric& metric : device().facts().metrics) EXPECT_FALSE(metric.name.empty());
}

// --- stopping ---

// The trainer ends with the first wait that returns false, so a device has one.
TEST_P(DeviceContract, EndsEveryWaitOnStop) {
  for (const CopyMode mode : kCopyModes) {
    for (const auto wait : {&Device::wait_copied, &Device::wait_computed}) {
      SCOPED_TRACE(name_of(mode));
      stop_ = 0;
      config_.trainer.copy.value = mode;
      make();
      ASSERT_TRUE(device().submit_copy(make_copy_job(0, kHour)));
      device().submit_compute(0, kHour);
      stop_ = 1;
      EXPECT_FALSE((device().*wait)(0));
      EXPECT_FALSE(device().wait_computed(0));
    }
  }
}

TEST_P(DeviceContract, EndsCallersCopyOnStop) {
  make();
  stop_ = 1;
  EXPECT_FALSE(device().submit_copy(make_copy_job(0, kHour, true)));
}

// The trainer may be blocked, or on its way there: both must come back.
TEST_P(DeviceContract, EndsWaitOfAnotherThreadOnCancel) {
  make();
  std::atomic<bool> submitted = false;
  std::thread trainer([&] {
    EXPECT_TRUE(device().submit_copy(make_copy_job(0, 0)));
    device().submit_compute(0, kHour);
    submitted = true;
    submitted.notify_one();
    device().wait_computed(0);
  });
  submitted.wait(false);
  stop_ = 1;
  device().cancel();
  trainer.join();
}

TEST_P(DeviceContract, EndsWithWorkInFlight) {
  for (const CopyMode mode : kCopyModes) {
    SCOPED_TRACE(name_of(mode));
    config_.trainer.copy.value = mode;
    make();
    ASSERT_TRUE(device().submit_copy(make_copy_job(0, kHour)));
    device().submit_compute(0, kHour);
    ASSERT_TRUE(device().submit_copy(make_copy_job(1, kHour)));
    run_ = {};
  }
}

// --- ranks ---

TEST_P(DeviceContract, MakesDevicePerRank) {
  config_.trainer.ranks.value = 3;
  make();
  ASSERT_EQ(run_.devices.size(), 3U);
  for (std::size_t rank = 0; rank < 3; ++rank)
    run_steps(device(rank), config_, 3, make_copy_job(0, kCopy), kCompute);
}

// One thread plays all ranks: it waits for none before all have submitted.
TEST_P(DeviceContract, BeginsComputesTogetherAtBarrier) {
  if (!computes()) GTEST_SKIP() << "A device that drops batches has no barrier.";
  config_.trainer.ranks.value = 3;
  config_.trainer.sync_ranks.value = true;
  for (const CopyMode mode : {CopyMode::async, CopyMode::stream}) {
    config_.trainer.copy.value = mode;
    make();
    for (std::int64_t step = 0; step < 4; ++step) {
      for (std::size_t rank = 0; rank < 3; ++rank) {
        const Nanos copy = static_cast<Nanos>(1 + rank) * kMillisecond;
        ASSERT_TRUE(device(rank).submit_copy(make_copy_job(step, copy)));
        device(rank).submit_compute(step, kCompute);
      }
      Nanos first = 0;
      for (std::size_t rank = 0; rank < 3; ++rank) {
        ASSERT_TRUE(device(rank).wait_computed(step));
        const auto times = device(rank).collect();
        ASSERT_TRUE(times);
        if (rank == 0) first = times->compute.begin;
        expect_near(times->compute.begin, first, slack());
        expect_order(times->ready, times->compute.begin);
      }
    }
  }
}

TEST_P(DeviceContract, EndsBarrierWaitOnStop) {
  if (!computes()) GTEST_SKIP() << "A device that drops batches has no barrier.";
  config_.trainer.ranks.value = 2;
  config_.trainer.sync_ranks.value = true;
  make();
  ASSERT_TRUE(device().submit_copy(make_copy_job(0, 0)));
  device().submit_compute(0, kMillisecond);
  EXPECT_FALSE(device().collect());  // the other rank has not arrived
  stop_ = 1;
  EXPECT_FALSE(device().wait_computed(0));
}

// --- host memory ---

TEST_P(DeviceContract, MakesSlotsOfEveryMode) {
  constexpr Bytes kBytes = 5000;
  make();
  for (const MemoryRow& row : memory_table()) {
    SCOPED_TRACE(row.row.name);
    const auto slots = device().make_slots(row.mode, 3, kBytes);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slots->slot(i)) % kSlotAlignment, 0U);
      std::memset(slots->slot(i), static_cast<int>(i + 1), static_cast<std::size_t>(kBytes));
    }
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(std::to_integer<std::size_t>(slots->slot(i)[0]), i + 1);
      EXPECT_EQ(std::to_integer<std::size_t>(slots->slot(i)[kBytes - 1]), i + 1);
    }
    const bool is_locked = row.page_locked && slots->fallback_reason().empty();
    EXPECT_EQ(slots->locked_bytes(), is_locked ? 3 * whole_pages(kBytes) : 0);
  }
}

TEST_P(DeviceContract, AdoptsSharedMemoryInPlace) {
  alignas(kSlotAlignment) static std::array<std::byte, 2 * whole_pages(5000)> memory;
  make();
  for (const MemoryRow& row : memory_table()) {
    if (row.wrap_existing == nullptr) continue;
    SCOPED_TRACE(row.row.name);
    {
      const auto slots = device().wrap_slots(row.mode, memory.data(), 2, 5000);
      ASSERT_NE(slots, nullptr);
      EXPECT_EQ(slots->slot(0), memory.data());
      EXPECT_EQ(slots->slot(1), memory.data() + whole_pages(5000));
    }
    memory.front() = memory.back() = std::byte{1};  // the memory outlives the slots
  }
}

}  // namespace loaderscope
