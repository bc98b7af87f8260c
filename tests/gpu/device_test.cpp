// The device on a real GPU: its times, its clock, its copy modes, its gates.
#include <algorithm>

#include "base/thread_meter.h"
#include "engine/model/model_engine.h"
#include "engine/native/native_engine.h"
#include "gpu/gpu_test.h"
#include "loaderscope/analysis.h"
#include "loaderscope/settings.h"
#include "unit/device/run_steps.h"

namespace loaderscope::cuda {
namespace {

constexpr Nanos kCopy = 3 * kMillisecond, kCompute = 4 * kMillisecond;

CopyJob declared(Nanos duration) {
  CopyJob job;
  job.duration = duration;
  return job;
}

Nanos median_compute(std::vector<DeviceTimes> times) {
  std::sort(times.begin(), times.end(), [](const DeviceTimes& a, const DeviceTimes& b) {
    return a.compute.wall() < b.compute.wall();
  });
  return times[times.size() / 2].compute.wall();
}

TEST_F(GpuTest, OrdersTimesBySteps) {
  for (const CopyMode mode : {CopyMode::sync, CopyMode::async, CopyMode::stream}) {
    config_.trainer.copy.value = mode;
    const auto times = run_steps(*make(), config_, 20, declared(kCopy), kCompute);
    for (std::size_t i = 1; i < times.size(); ++i) {
      expect_near(times[i].compute.wall(), kCompute, kNear);
      EXPECT_GE(times[i].compute.begin + kNear, times[i].copy.end);
      EXPECT_GE(times[i].compute.begin + kNear, times[i - 1].compute.end);
      if (mode != CopyMode::stream) {
        EXPECT_GE(times[i].copy.begin + kNear, times[i - 1].compute.end);
      }
    }
  }
}

TEST_F(GpuTest, OverlapsCopyAndComputeOnSeparateStreams) {
  config_.trainer.copy.value = CopyMode::stream;
  const auto times = run_steps(*make(), config_, 20, declared(kCopy), kCompute);
  int overlapping = 0;
  for (std::size_t i = 1; i < times.size(); ++i)
    overlapping += times[i].copy.begin < times[i - 1].compute.end ? 1 : 0;
  EXPECT_GE(overlapping, 15);
}

TEST_F(GpuTest, KeepsClocksWithinStatedError) {
  DeviceClock clock(*runtime_, *objects_);
  EXPECT_LT(clock.error(), 100 * kMicrosecond);
  const Stream stream = objects_->stream();
  const Event event = objects_->event();
  for (int i = 0; i < 30; ++i) {
    runtime_->sleep_until(monotonic_now() + 100 * kMillisecond, stop_);
    clock.keep();
    const Nanos before = monotonic_now();
    ASSERT_TRUE(runtime_->record(event, stream).ok());
    ASSERT_TRUE(runtime_->synchronise(event).ok());
    const Nanos after = monotonic_now();
    const Nanos slack = clock.error() + clock.drift() + 100 * kMicrosecond;
    EXPECT_GE(clock.event_time(event) + slack, before);
    EXPECT_LE(clock.event_time(event), after + slack);
  }
  EXPECT_LT(clock.drift(), kMillisecond);
}

TEST_F(GpuTest, GivesElapsedTimesSign) {
  const Stream stream = objects_->stream();
  const Event first = objects_->event(), second = objects_->event();
  Spin spin;
  spin.duration = kMillisecond;
  ASSERT_TRUE(runtime_->record(first, stream).ok());
  ASSERT_TRUE(runtime_->spin(spin, stream).ok());
  ASSERT_TRUE(runtime_->record(second, stream).ok());
  ASSERT_TRUE(runtime_->synchronise(second).ok());
  double forwards = 0, backwards = 0;
  ASSERT_TRUE(runtime_->elapsed(first, second, forwards).ok());
  ASSERT_TRUE(runtime_->elapsed(second, first, backwards).ok());
  EXPECT_GT(forwards, 0.9);
  EXPECT_NEAR(forwards, -backwards, 0.001);
}

TEST_F(GpuTest, RunsLaunchesAndGraphsForTimeOfStep) {
  for (const bool graph : {false, true}) {
    for (const Nanos compute : {3 * kMillisecond, 20 * kMillisecond}) {
      config_.trainer.launches.value = 200;
      config_.trainer.graph.value = graph;
      const auto times = run_steps(*make(), config_, 20, {}, compute);
      SCOPED_TRACE(graph);
      expect_near(median_compute(times), compute, compute / 50);
    }
  }
}

TEST_F(GpuTest, RunsProductsForTimeOfStep) {
  config_.trainer.compute.set(parse_compute("gemm:20ms"));
  const auto device = make();
  const auto times = run_steps(*device, config_, 30, {}, 20 * kMillisecond);
  SCOPED_TRACE(device->facts().notes.back());
  expect_near(median_compute(times), 20 * kMillisecond, 2 * kMillisecond);
}

TEST_F(GpuTest, BeginsComputesTogetherAtGate) {
  config_.trainer.ranks.value = 3;
  config_.trainer.sync_ranks.value = true;
  const auto devices = make_devices(runtime_, config_, stop_);
  for (std::int64_t step = 0; step < 10; ++step) {
    for (std::size_t rank = 0; rank < 3; ++rank) {
      CopyJob copy = declared(static_cast<Nanos>(1 + rank) * kMillisecond);
      copy.step = step;
      ASSERT_TRUE(devices[rank]->submit_copy(copy));
      devices[rank]->submit_compute(step, kCompute);
    }
    Nanos first = 0;
    for (const auto& device : devices) {
      ASSERT_TRUE(device->wait_computed(step));
      const auto times = device->collect();
      ASSERT_TRUE(times);
      if (first == 0) first = times->compute.begin;
      expect_near(times->compute.begin, first, kNear);
      EXPECT_LE(times->ready, times->compute.begin + kNear);
    }
  }
}

TEST_F(GpuTest, EndsWaitAtGateOnStop) {
  config_.trainer.ranks.value = 2;
  config_.trainer.sync_ranks.value = true;
  auto devices = make_devices(runtime_, config_, stop_);
  ASSERT_TRUE(devices[0]->submit_copy({}));
  devices[0]->submit_compute(0, kCompute);
  stop_ = 1;
  const Nanos begin = monotonic_now();
  EXPECT_FALSE(devices[0]->wait_computed(0));  // the other rank never comes
  devices.clear();
  EXPECT_LT(monotonic_now() - begin, 2 * kSecond);
}

TEST_F(GpuTest, KeepsGpuAsBusyAsModelPredicts) {
  RunConfig config;
  parse_scenario(
      "workers = 2\nbatch = 8\ncompute = 12ms\ncost = decode=4ms:sleep\nsteps = 60\n"
      "cost = h2d=1ms\n",
      "case", config);
  std::vector<std::string> notes;
  config = resolve(config, MachineLimits{1024, true, ""}, notes);
  ASSERT_EQ(config.trainer.device.value, "cuda");
  const RunRecord measured = run_native(config, {});
  EXPECT_FALSE(measured.simulated);
  config.engine.value = "model";
  config.trainer.device.value = "sim";
  const double expected = analyse(run_model(config, {})).busy.mean;
  EXPECT_NEAR(analyse(measured).busy.mean, expected, 0.03);
}

}  // namespace
}  // namespace loaderscope::cuda
