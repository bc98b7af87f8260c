// The CUDA device against a runtime that only pretends: timings are scripted, time is not real.
#include "device/cuda/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "augment/emitter.h"
#include "device/cuda/runtime.h"
#include "loaderscope/errors.h"
#include "unit/device/pretend_runtime.h"
#include "unit/device/run_steps.h"

namespace loaderscope::cuda {
namespace {

using ::testing::HasSubstr;

constexpr Nanos kCopy = 3 * kMillisecond, kCompute = 4 * kMillisecond;
constexpr Nanos kNear = 20 * kMicrosecond;  // calls take one each, clocks are read to one

class CudaDeviceTest : public testing::Test {
 protected:
  CudaDeviceTest() {
    config_.trainer.device.value = "cuda";
    config_.trainer.compute.set({});
    config_.loader.batch_size.value = 2;
    config_.image.size.value = 4;
  }

  void use_bytes(Transfer transfer = Transfer::f32) {
    config_.data.source.value = "files";
    config_.data.paths.value = {"photos"};
    config_.image.transfer.value = transfer;
    host_.assign(
        static_cast<std::size_t>(config_.loader.batch_size * config_.delivered_sample_bytes()),
        std::byte{7});
  }

  std::unique_ptr<Device> make() {
    return std::move(make_devices(runtime_, config_, stop_).front());
  }

  CopyJob copy_job(std::int64_t step, Nanos duration, bool caller_copies = false) const {
    CopyJob job;
    job.step = step;
    job.duration = duration;
    job.caller_copies = caller_copies;
    job.host = host_.empty() ? nullptr : host_.data();
    job.bytes = std::ssize(host_);
    return job;
  }

  std::vector<DeviceTimes> run(Device& device, std::int64_t steps, Nanos copy, Nanos compute) {
    return run_steps(device, config_, steps, copy_job(0, copy), compute);
  }

  std::string error_of_making() {
    try {
      make();
    } catch (const RunError& error) {
      return error.what();
    }
    return "";
  }

  std::shared_ptr<PretendRuntime> runtime_ = std::make_shared<PretendRuntime>();
  std::atomic<int> stop_{0};
  RunConfig config_;
  std::vector<std::byte> host_;
};

TEST_F(CudaDeviceTest, ReportsTimesOfDevice) {
  for (const CopyMode mode : {CopyMode::sync, CopyMode::async, CopyMode::stream}) {
    runtime_ = std::make_shared<PretendRuntime>();
    config_.trainer.copy.value = mode;
    const std::vector<DeviceTimes> times = run(*make(), 6, kCopy, kCompute);
    const auto spins = runtime_->work("spin");
    ASSERT_EQ(spins.size(), 13U);  // one to warm up, then a copy and a compute per step
    for (std::size_t i = 0; i < times.size(); ++i) {
      expect_near(times[i].copy.begin, spins[1 + 2 * i].begin, kNear);
      expect_near(times[i].copy.end, spins[1 + 2 * i].end, kNear);
      expect_near(times[i].compute.begin, spins[2 + 2 * i].begin, kNear);
      expect_near(times[i].compute.end, spins[2 + 2 * i].end, kNear);
      EXPECT_EQ(times[i].ready, times[i].compute.begin);
      EXPECT_TRUE(times[i].launch.ran());
      EXPECT_GT(times[i].launch.wall(), 0);
      if (i == 0 || mode == CopyMode::stream) continue;
      EXPECT_GE(times[i].copy.begin + kNear, times[i - 1].compute.end);
    }
  }
}

TEST_F(CudaDeviceTest, OverlapsCopyWithComputeOnOwnStream) {
  config_.trainer.copy.value = CopyMode::stream;
  const std::vector<DeviceTimes> times = run(*make(), 6, kCopy, kCompute);
  for (std::size_t i = 1; i < times.size(); ++i) {
    EXPECT_LT(times[i].copy.begin, times[i - 1].compute.end);
    EXPECT_GE(times[i].compute.begin + kNear, times[i].copy.end);
  }
}

TEST_F(CudaDeviceTest, GivesEachStepInFlightItsOwnBuffer) {
  use_bytes();
  for (const CopyMode mode : {CopyMode::sync, CopyMode::async, CopyMode::stream}) {
    for (const std::int64_t in_flight : {1, 2, 5}) {
      runtime_ = std::make_shared<PretendRuntime>();
      config_.trainer.copy.value = mode;
      config_.trainer.in_flight.value = in_flight;
      run(*make(), 11, 0, kCompute);
      const auto copies = runtime_->work("copy");
      ASSERT_EQ(copies.size(), 11U);
      std::set<const void*> buffers;
      for (std::size_t i = 0; i < copies.size(); ++i) {
        buffers.insert(copies[i].place);
        const auto before = static_cast<std::size_t>(in_flight);
        if (i >= before) {
          EXPECT_EQ(copies[i].place, copies[i - before].place);
        }
      }
      EXPECT_EQ(std::ssize(buffers), in_flight);
    }
  }
}

TEST_F(CudaDeviceTest, SpendsNoTimeOnEmptySteps) {
  for (const DeviceTimes& times : run(*make(), 4, 0, 0)) {
    EXPECT_FALSE(times.copy.ran());
    EXPECT_EQ(times.compute.wall(), 0);
  }
}

TEST_F(CudaDeviceTest, EndsCallersCopyBeforeReturn) {
  use_bytes();
  runtime_->copy_rate = 1e-3;
  const auto device = make();
  ASSERT_TRUE(device->submit_copy(copy_job(0, 0, true)));
  EXPECT_GE(runtime_->now(), runtime_->work("copy").front().end);
}

TEST_F(CudaDeviceTest, CorrectsDriftingClock) {
  runtime_->drift = 50e-6;
  config_.trainer.in_flight.value = 1;
  const auto device = make();
  const std::vector<DeviceTimes> times = run(*device, 200, 0, 100 * kMillisecond);
  const auto spins = runtime_->work("spin");
  for (std::size_t i = 0; i < times.size(); ++i)
    expect_near(times[i].compute.begin, spins[1 + i].begin, 80 * kMicrosecond);
  const DeviceFacts facts = device->facts();
  ASSERT_EQ(facts.metrics.size(), 3U);
  EXPECT_LT(facts.metrics[1].value, 10e-6);
  EXPECT_NEAR(facts.metrics[2].value, 50e-6, 20e-6);
}

// A crowded host reads the clock late for a while.
TEST_F(CudaDeviceTest, RejectsUncertainAnchors) {
  config_.trainer.in_flight.value = 1;
  const auto device = make();
  runtime_->event_latency = 600 * kMicrosecond;
  run(*device, 10, 0, kSecond);
  EXPECT_LT(device->facts().metrics[1].value, 10e-6);
}

TEST_F(CudaDeviceTest, SetsClockDuringLongCompute) {
  runtime_->drift = 50e-6;
  const auto device = make();
  const int before = runtime_->calls("record");
  const std::vector<DeviceTimes> times = run(*device, 1, 0, 60 * kSecond);
  EXPECT_GE(runtime_->calls("record") - before, 60 / 4);
  expect_near(times[0].compute.wall(), 60 * kSecond, 160 * kMicrosecond);
  expect_near(times[0].compute.end, runtime_->work("spin")[1].end, 80 * kMicrosecond);
}

TEST_F(CudaDeviceTest, SplitsStepIntoLaunches) {
  config_.trainer.launches.value = 7;
  const std::vector<DeviceTimes> times = run(*make(), 3, 0, kCompute + 3);
  const auto spins = runtime_->work("spin");
  const std::size_t first = spins.size() - 3 * 7;
  for (std::size_t step = 0; step < 3; ++step) {
    Nanos sum = 0;
    for (std::size_t i = 0; i < 7; ++i)
      sum += spins[first + 7 * step + i].end - spins[first + 7 * step + i].begin;
    EXPECT_EQ(sum, kCompute + 3);
  }
}

// A call takes a microsecond, a kernel seven: 0.7 us of each are the GPU's own.
TEST_F(CudaDeviceTest, CountsKernelCostAsPartOfStep) {
  runtime_->kernel_cost = 700;
  config_.trainer.launches.value = 300;
  for (const bool graph : {false, true}) {
    config_.trainer.graph.value = graph;
    for (const DeviceTimes& step : run(*make(), 3, 0, 2100 * kMicrosecond))
      expect_near(step.compute.wall(), 2100 * kMicrosecond, 10 * kMicrosecond);
  }
}

TEST_F(CudaDeviceTest, AddsNoSpinToKernelsLongerThanStep) {
  runtime_->kernel_cost = 5 * kMicrosecond;
  config_.trainer.launches.value = 100;
  const auto device = make();
  for (const DeviceTimes& step : run(*device, 3, 0, 10 * kMicrosecond))
    expect_near(step.compute.wall(), 500 * kMicrosecond, 10 * kMicrosecond);
}

// A call takes a microsecond, a kernel a tenth of that.
TEST_F(CudaDeviceTest, ExcludesWaitForLaunchesFromCompute) {
  config_.trainer.launches.value = 100;
  const std::vector<DeviceTimes> times = run(*make(), 3, 0, 10 * kMicrosecond);
  for (const DeviceTimes& step : times) {
    expect_near(step.compute.wall(), 10 * kMicrosecond, kMicrosecond);
    EXPECT_EQ(step.ready, step.compute.begin);
    EXPECT_GE(step.launch.wall(), 100 * kMicrosecond);
  }
}

TEST_F(CudaDeviceTest, LaunchesGraphOncePerStepWithItsTime) {
  config_.trainer.launches.value = 4;
  config_.trainer.graph.value = true;
  const auto device = make();
  const int before = runtime_->calls("launch_graph");
  std::vector<Nanos> expected;
  for (std::int64_t step = 0; step < 5; ++step) {
    if (step > 1) {
      ASSERT_TRUE(device->wait_computed(step - 2));
    }
    ASSERT_TRUE(device->submit_copy(copy_job(step, 0)));
    device->submit_compute(step, (step + 1) * kMillisecond);
  }
  ASSERT_TRUE(device->wait_computed(4));
  EXPECT_EQ(runtime_->calls("launch_graph") - before, 5);
  for (Nanos step = 0; const auto times = device->collect(); ++step)
    expect_near(times->compute.wall(), (step + 1) * kMillisecond, kNear);
}

// 4096^3 products at 1e5 per ns take 0.69 ms: 16 of them fit into 12 ms, and of 8192 they do not.
TEST_F(CudaDeviceTest, FillsStepWithMeasuredProducts) {
  config_.trainer.compute.set(parse_compute("gemm:12ms"));
  const auto device = make();
  const std::vector<DeviceTimes> times = run(*device, 3, 0, 12 * kMillisecond);
  for (const DeviceTimes& step_times : times)
    expect_near(step_times.compute.wall(), 12 * kMillisecond, 200 * kMicrosecond);
  EXPECT_THAT(device->facts().notes.back(),
              HasSubstr("compute: 4096 x 4096 matrices, pretended products"));
}

TEST_F(CudaDeviceTest, MeasuresProductsAfterClockRise) {
  config_.trainer.compute.set(parse_compute("gemm:12ms"));
  runtime_->clock_ramp_end = 400 * kMillisecond;
  for (const DeviceTimes& step_times : run(*make(), 3, 0, 12 * kMillisecond))
    expect_near(step_times.compute.wall(), 12 * kMillisecond, 200 * kMicrosecond);
}

// The GPU gets slower after the calibration, as under another load.
TEST_F(CudaDeviceTest, CorrectsProductsByFirstSteps) {
  config_.trainer.compute.set(parse_compute("gemm:12ms"));
  const auto device = make();
  runtime_->product_rate *= 0.8;
  const std::vector<DeviceTimes> times = run(*device, 12, 0, 12 * kMillisecond);
  expect_near(times.front().compute.wall(), 15 * kMillisecond, kMillisecond);
  for (std::size_t i = 9; i < times.size(); ++i)
    expect_near(times[i].compute.wall(), 12 * kMillisecond, 300 * kMicrosecond);
}

TEST_F(CudaDeviceTest, NormalisesBytesLikeHost) {
  for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
    runtime_ = std::make_shared<PretendRuntime>();
    config_.image.layout.value = layout;
    use_bytes(Transfer::u8);
    for (std::size_t i = 0; i < host_.size(); ++i) host_[i] = static_cast<std::byte>(5 * i);
    const auto device = make();
    const std::vector<DeviceTimes> times = run(*device, 1, 0, kCompute);
    // Two steps in flight, each with a batch of bytes and one of floats.
    EXPECT_EQ(device->facts().metrics[0].value, 2.0 * 5 * static_cast<double>(host_.size()));
    const auto jobs = runtime_->work("normalise");
    ASSERT_EQ(jobs.size(), 2U);  // one to warm up
    expect_near(times[0].augment.wall(), jobs[1].end - jobs[1].begin, kNear);
    expect_near(times[0].compute.begin, times[0].augment.end, kNear);
    expect_near(times[0].compute.wall(), kCompute, kNear);
    const auto* floats = static_cast<const float*>(jobs[1].place);
    const augment::Scaling scaling =
        augment::make_scaling(*augment::find_normalise(config_.image.augment.value));
    const std::size_t pixels = 16;
    for (std::size_t i = 0; i < host_.size(); ++i) {
      const std::size_t image = i / (3 * pixels), channel = i / pixels % 3, pixel = i % pixels;
      const std::size_t from =
          layout == Layout::nchw ? i : image * 3 * pixels + 3 * pixel + channel;
      const auto byte = static_cast<float>(std::to_integer<int>(host_[from]));
      EXPECT_EQ(floats[i], (byte - scaling.subtract[channel]) * scaling.multiply[channel]);
    }
  }
}

TEST_F(CudaDeviceTest, NormalisesReusedBytes) {
  use_bytes(Transfer::u8);
  const auto device = make();
  const std::vector<DeviceTimes> copied = run(*device, 2, 0, kCompute);
  CopyJob job;
  job.step = 2;
  job.reused_bytes = std::ssize(host_);
  ASSERT_TRUE(device->submit_copy(job));
  device->submit_compute(2, kCompute);
  ASSERT_TRUE(device->wait_computed(2));
  const auto kept = device->collect();
  ASSERT_TRUE(kept);
  EXPECT_FALSE(kept->copy.ran());
  expect_near(kept->augment.wall(), copied[1].augment.wall(), kNear);
  EXPECT_EQ(runtime_->work("copy").size(), 2U);
  const auto jobs = runtime_->work("normalise");
  ASSERT_EQ(jobs.size(), 4U);  // one to warm up
  EXPECT_EQ(jobs[3].place, jobs[1].place);
}

TEST_F(CudaDeviceTest, FreesAllResources) {
  use_bytes(Transfer::u8);
  config_.trainer.copy.value = CopyMode::stream;
  config_.trainer.graph.value = true;
  for (const char* compute : {"4ms", "gemm:4ms"}) {
    config_.trainer.compute.set(parse_compute(compute));
    {
      const auto device = make();
      const auto slots = device->make_slots(MemoryMode::pinned_slots, 3, 1000);
      EXPECT_GT(runtime_->owned(), 20);
    }
    EXPECT_EQ(runtime_->owned(), 0) << compute;
  }
}

TEST_F(CudaDeviceTest, ReportsTooLittleMemory) {
  use_bytes();
  runtime_->memory = 100;
  EXPECT_EQ(error_of_making(),
            "GPU 0: buffers of batches: out of memory (cudaErrorMemoryAllocation); use a smaller "
            "--batch-size or --in-flight, or end what else uses the GPU");
  EXPECT_EQ(runtime_->owned(), 0);
}

TEST_F(CudaDeviceTest, ReportsLostDevice) {
  const auto device = make();
  run(*device, 3, kCopy, kCompute);
  runtime_->fail("query", 0, "cudaErrorECCUncorrectable");
  ASSERT_TRUE(device->submit_copy(copy_job(3, kCopy)));
  device->submit_compute(3, kCompute);
  try {
    device->wait_computed(3);
    FAIL();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr("GPU 0: wait: the GPU was lost: its memory is damaged"));
  }
}

TEST_F(CudaDeviceTest, KeepsNamesOfUnknownErrors) {
  runtime_->fail("make_stream", 0, "cudaErrorOfTheFuture");
  EXPECT_EQ(error_of_making(),
            "GPU 0: a stream: the CUDA runtime failed (cudaErrorOfTheFuture, code 999); give "
            "--device sim, or run again");
}

TEST_F(CudaDeviceTest, ExplainsMissingGpu) {
  runtime_->driver = 0;
  EXPECT_THAT(error_of_making(), HasSubstr("device = cuda: no NVIDIA driver here"));
  runtime_->driver = 12020;
  runtime_->fail("device_count", 0, "cudaErrorInsufficientDriver");
  EXPECT_THAT(error_of_making(), HasSubstr("it supports CUDA 12.2, and this program was built "
                                           "with 13.0"));
  runtime_->fail("device_count", 0, "cudaErrorNoDevice");
  EXPECT_THAT(error_of_making(), HasSubstr("finds no GPU"));
  runtime_ = std::make_shared<PretendRuntime>();
  runtime_->major = 7;
  EXPECT_THAT(error_of_making(), HasSubstr("compute capability 7.0, and this program needs 7.5"));
  runtime_->minor = 5;
  EXPECT_EQ(error_of_making(), "");
  runtime_ = nullptr;
  EXPECT_THAT(error_of_making(), HasSubstr("built without the CUDA toolkit"));
}

TEST_F(CudaDeviceTest, DistinguishesUnusableGpuFromNone) {
  EXPECT_EQ(cuda::why_gpu_unusable(nullptr), std::nullopt);
  EXPECT_EQ(cuda::why_gpu_unusable(runtime_.get()), std::nullopt);
  runtime_->driver = 0;
  runtime_->fail("device_count", 0, "cudaErrorInsufficientDriver");
  EXPECT_EQ(cuda::why_gpu_unusable(runtime_.get()), std::nullopt);
  runtime_->driver = 12020;
  EXPECT_THAT(cuda::why_gpu_unusable(runtime_.get()).value_or(""),
              HasSubstr("it supports CUDA 12.2"));
  runtime_->fail("device_count", 0, "cudaErrorSystemNotReady");
  EXPECT_THAT(cuda::why_gpu_unusable(runtime_.get()).value_or(""), HasSubstr("fabric manager"));
  runtime_->fail("device_count", 0, "cudaErrorNoDevice");  // CUDA_VISIBLE_DEVICES is empty
  EXPECT_EQ(cuda::why_gpu_unusable(runtime_.get()), std::nullopt);
  runtime_ = std::make_shared<PretendRuntime>();
  runtime_->major = 7;
  EXPECT_THAT(cuda::why_gpu_unusable(runtime_.get()).value_or(""),
              HasSubstr("compute capability 7.0"));
}

TEST_F(CudaDeviceTest, SharesGpusAmongRanks) {
  config_.trainer.ranks.value = 5;
  runtime_->devices = 2;
  const auto devices = make_devices(runtime_, config_, stop_);
  ASSERT_EQ(devices.size(), 5U);
  const DeviceFacts facts = devices[0]->facts();
  ASSERT_EQ(facts.notes.size(), 2U);
  EXPECT_THAT(facts.notes[0], HasSubstr("GPU 0: Pretender 0"));
  EXPECT_THAT(facts.notes[1], HasSubstr("5 ranks share 2 GPUs"));
  EXPECT_TRUE(devices[1]->facts().notes.empty());
}

TEST_F(CudaDeviceTest, RejectsElevenSynchronisedRanksOnOneGpu) {
  config_.trainer.sync_ranks.value = true;
  config_.trainer.ranks.value = 11;
  EXPECT_THAT(error_of_making(), HasSubstr("sync-ranks: 11 ranks would wait for each other"));
}

// One thread plays all ranks. It waits only after all ranks have submitted.
TEST_F(CudaDeviceTest, BeginsComputesOfStepTogetherAtBarrier) {
  config_.trainer.ranks.value = 3;
  config_.trainer.sync_ranks.value = true;
  for (const CopyMode mode : {CopyMode::async, CopyMode::stream}) {
    config_.trainer.copy.value = mode;
    runtime_ = std::make_shared<PretendRuntime>();
    runtime_->devices = 3;
    const auto devices = make_devices(runtime_, config_, stop_);
    for (std::int64_t step = 0; step < 5; ++step) {
      for (std::size_t rank = 0; rank < 3; ++rank) {
        ASSERT_TRUE(devices[rank]->submit_copy(
            copy_job(step, static_cast<Nanos>(1 + rank) * kMillisecond)));
        devices[rank]->submit_compute(step, kCompute);
      }
      Nanos last_ready = 0, first = 0;
      for (const auto& device : devices) {
        ASSERT_TRUE(device->wait_computed(step));
        const auto times = device->collect();
        ASSERT_TRUE(times);
        if (first == 0) first = times->compute.begin;
        expect_near(times->compute.begin, first, kNear);
        EXPECT_LE(times->ready, times->compute.begin + kNear);
        last_ready = std::max(last_ready, times->ready);
      }
      expect_near(first, last_ready, kNear);
    }
  }
}

TEST_F(CudaDeviceTest, EndsWaitAtGateOnStop) {
  config_.trainer.ranks.value = 2;
  config_.trainer.sync_ranks.value = true;
  const auto devices = make_devices(runtime_, config_, stop_);
  ASSERT_TRUE(devices[0]->submit_copy(copy_job(0, 0)));
  devices[0]->submit_compute(0, kCompute);
  EXPECT_FALSE(devices[0]->collect());
  stop_ = 1;
  EXPECT_FALSE(devices[0]->wait_computed(0));  // the other rank never comes
}

TEST_F(CudaDeviceTest, EndsLongWaitOnStop) {
  const auto device = make();
  ASSERT_TRUE(device->submit_copy(copy_job(0, 0)));
  device->submit_compute(0, 3600 * kSecond);
  stop_ = 1;
  EXPECT_FALSE(device->wait_computed(0));
  EXPECT_LT(runtime_->now(), 1'100 * kSecond);
}

}  // namespace
}  // namespace loaderscope::cuda
