// Real images through the native engine and the CUDA device, whose runtime and nvJPEG only pretend.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/cuda/cuda_device.h"
#include "unit/device/pretend_nvjpeg.h"
#include "unit/device/pretend_runtime.h"
#include "unit/native/native_run.h"

namespace loaderscope::native {

using cuda::PretendNvjpeg;
using cuda::PretendRuntime;

// Notes the bytes of each sample when the kernel has made it.
class NotingRuntime : public PretendRuntime {
 public:
  NotingRuntime() : PretendRuntime(Time::real) {}

  cuda::Status augment(const cuda::AugmentJob& job, cuda::Stream stream) override {
    const cuda::Status status = PretendRuntime::augment(job, stream);
    submit_work(stream, "note", 0, [this, job] { note(job); });
    return status;
  }

  // Memory that is free from the second question on; -1: as before.
  Bytes memory_after_first_question = -1;
  cuda::Status memory_info(std::size_t& free, std::size_t& total) override {
    if (calls("memory_info") == 1 && memory_after_first_question >= 0)
      memory = memory_after_first_question;
    return PretendRuntime::memory_info(free, total);
  }

  // The device is lost at the first copy of at least that many bytes. 0: never.
  std::size_t lost_copy_bytes = 0;
  cuda::Status copy_to_device(void* to, const void* host, std::size_t bytes,
                              cuda::Stream stream) override {
    if (lost_copy_bytes > 0 && bytes >= lost_copy_bytes)
      for (const char* call : {"record", "query", "synchronise", "synchronise_device", "copy_in"})
        fail(call, calls(call), "cudaErrorIllegalAddress");
    return PretendRuntime::copy_to_device(to, host, bytes, stream);
  }

  // Without the first one, which warms up the device.
  std::vector<std::string> samples() const {
    return samples_.empty() ? samples_ : std::vector(samples_.begin() + 1, samples_.end());
  }

 private:
  void note(const cuda::AugmentJob& job) {
    const std::size_t bytes = static_cast<std::size_t>(job.values() / job.count) *
                              (job.type == cuda::ValueType::f32   ? 4
                               : job.type == cuda::ValueType::f16 ? 2
                                                                  : 1);
    for (std::int32_t i = 0; i < job.count; ++i)
      samples_.emplace_back(static_cast<const char*>(job.out) + static_cast<std::size_t>(i) * bytes,
                            bytes);
  }

  std::vector<std::string> samples_;
};

// Notes the bytes that the host makes.
class HostSamples {
 public:
  static std::vector<std::string> make(const std::string& settings, std::size_t sample_bytes) {
    HostSamples samples(sample_bytes);
    RunContext context;
    context.native.make_devices = [&](const RunConfig&, const std::atomic<int>&) {
      std::vector<std::unique_ptr<Device>> devices;
      devices.push_back(std::make_unique<Copier>(samples));
      return devices;
    };
    run(settings + " device=null workers=1", context);
    return samples.all_;
  }

 private:
  explicit HostSamples(std::size_t bytes) : bytes_(bytes) {}

  class Copier : public Device {
   public:
    explicit Copier(HostSamples& owner) : owner_(owner) {}
    bool submit_copy(const CopyJob& job) override {
      const auto* bytes = reinterpret_cast<const char*>(job.host);
      for (std::size_t at = 0; at < static_cast<std::size_t>(job.bytes); at += owner_.bytes_)
        owner_.all_.emplace_back(bytes + at, owner_.bytes_);
      steps_.push_back(job.step);
      return true;
    }
    bool wait_copied(std::int64_t) override { return true; }
    void submit_compute(std::int64_t, Nanos) override {}
    bool wait_computed(std::int64_t) override { return true; }
    std::optional<DeviceTimes> collect() override {
      if (steps_.empty()) return std::nullopt;
      DeviceTimes times;
      times.step = steps_.front();
      times.compute = {monotonic_now(), monotonic_now(), 0, 0};
      times.ready = times.compute.begin;
      steps_.erase(steps_.begin());
      return times;
    }

   private:
    HostSamples& owner_;
    std::vector<std::int64_t> steps_;
  };

  std::size_t bytes_;
  std::vector<std::string> all_;
};

inline constexpr std::string_view kCropAndFlip =
    "size=16 transfer=u8 augment=random-resized-crop augment=flip ";
inline constexpr std::string_view kWithSteps =
    "size=16 transfer=f32 augment=random-resized-crop augment=flip augment=colour-jitter "
    "augment=rotate:30 augment=normalise ";
inline constexpr std::string_view kTwoEpochs = "batch=5 epochs=2 shuffle=true seed=3 warmup=0 ";

// Runs on a pretended GPU.
class CudaRuns : public testing::Test {
 protected:
  RunRecord run_on_gpu(const std::string& settings) {
    // Resolved for the simulated device, because this machine may have no GPU.
    RunConfig config =
        parse_config(settings + " device=sim cost=gpu-decode=1us cost=gpu-augment=1us");
    config.trainer.device.value = "cuda";
    RunContext context;
    context.native.make_devices = [this](const RunConfig& given, const std::atomic<int>& stop) {
      return cuda::make_devices(runtime_, given, stop, [this](int) {
        return cuda::NvjpegLibrary{nvjpeg_, missing_};
      });
    };
    RunRecord record = run_native(config, context);
    expect_closes(record);
    EXPECT_EQ(runtime_->owned(), 0);
    EXPECT_EQ(nvjpeg_ ? nvjpeg_->owned() : 0, 0);
    return record;
  }

  std::string failure_on_gpu(const std::string& settings) {
    try {
      run_on_gpu(settings);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  // Starts again with a GPU that nothing was submitted to.
  void reset() {
    runtime_ = std::make_shared<NotingRuntime>();
    nvjpeg_ = std::make_shared<PretendNvjpeg>(*runtime_);
  }

  static double value(const RunRecord& record, std::string_view name) {
    const auto found = std::find_if(record.metrics.begin(), record.metrics.end(),
                                    [&](const Metric& one) { return one.name == name; });
    return found == record.metrics.end() ? 0 : found->value;
  }

  std::shared_ptr<NotingRuntime> runtime_ = std::make_shared<NotingRuntime>();
  std::shared_ptr<PretendNvjpeg> nvjpeg_ = std::make_shared<PretendNvjpeg>(*runtime_);
  std::string missing_;
};

}  // namespace loaderscope::native
