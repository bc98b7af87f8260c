// Fixture of the tests on a real GPU. Without a GPU each test skips with the reason.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "device/cuda/cuda_device.h"
#include "device/cuda/device_objects.h"
#include "device/devices.h"

namespace loaderscope::cuda {

inline constexpr Nanos kNear = 200 * kMicrosecond;

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto reason = why_no_cuda()) GTEST_SKIP() << *reason;
    runtime_ = real_runtime();
    ASSERT_TRUE(runtime_->set_device(0).ok());
    objects_ = std::make_unique<DeviceObjects>(*runtime_, "GPU 0");
    config_.trainer.device.value = "cuda";
  }

  std::unique_ptr<Device> make() {
    return std::move(make_devices(runtime_, config_, stop_).front());
  }

  // The time between two events around `work` on a new stream. All wait for a kernel first, because
  // an idle GPU would record the first event before the work is launched.
  template <class WorkOnStream>
  Nanos measure_gpu_time(const WorkOnStream& work) {
    const Stream stream = objects_->stream();
    const Event begin = objects_->event(), end = objects_->event();
    Spin before;
    before.duration = kMillisecond;
    EXPECT_TRUE(runtime_->spin(before, stream).ok());
    EXPECT_TRUE(runtime_->record(begin, stream).ok());
    EXPECT_TRUE(work(stream).ok());
    EXPECT_TRUE(runtime_->record(end, stream).ok());
    EXPECT_TRUE(runtime_->synchronise(end).ok());
    double ms = 0;
    EXPECT_TRUE(runtime_->elapsed(begin, end, ms).ok());
    return static_cast<Nanos>(ms * 1e6);
  }

  std::shared_ptr<Runtime> runtime_;
  std::unique_ptr<DeviceObjects> objects_;
  std::atomic<int> stop_{0};
  RunConfig config_;
};

}  // namespace loaderscope::cuda
