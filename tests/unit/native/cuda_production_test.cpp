// Real images through the native engine and the CUDA device, whose runtime and nvJPEG only pretend:
// the GPU makes the bytes that the host makes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "device/cuda/cuda_device.h"
#include "predict/device_fit.h"
#include "predict/fitted_model.h"
#include "unit/device/pretend_nvjpeg.h"
#include "unit/device/pretend_runtime.h"
#include "unit/native/native_run.h"
#include "unit/native/photos.h"
#include "unit/native/small_copies.h"

namespace loaderscope::native {
namespace {

using cuda::PretendNvjpeg;
using cuda::PretendRuntime;
using ::testing::HasSubstr;

// Notes the bytes of each sample when the kernel has made it.
class NotingRuntime : public PretendRuntime {
 public:
  NotingRuntime() : PretendRuntime(Time::real) {}

  cuda::Status augment(const cuda::AugmentJob& job, cuda::Stream stream) override {
    const cuda::Status status = PretendRuntime::augment(job, stream);
    submit_work(stream, "note", 0, [this, job] { note(job); });
    return status;
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

constexpr std::string_view kCropAndFlip =
    "size=16 transfer=u8 augment=random-resized-crop augment=flip ";
constexpr std::string_view kWithSteps =
    "size=16 transfer=f32 augment=random-resized-crop augment=flip augment=colour-jitter "
    "augment=rotate:30 augment=normalise ";
constexpr std::string_view kTwoEpochs = "batch=5 epochs=2 shuffle=true seed=3 warmup=0 ";

class CudaProduction : public testing::Test {
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

TEST_F(CudaProduction, MakesBytesOfTheHost) {
  const Photos photos(23);
  for (const std::string_view form : {kCropAndFlip, kWithSteps}) {
    const std::string common = fmt::format("data={} {} {}", photos.path(), form, kTwoEpochs);
    const std::vector<std::string> expected =
        HostSamples::make(common, form == kCropAndFlip ? 768 : 4 * 768);
    ASSERT_EQ(expected.size(), 46U);
    for (const std::string place : {"decode=hw", "decode=split:0.5", "augment-on=gpu"}) {
      for (const std::string way :
           {"workers=2", "workers=2 memory=pin-thread in-flight=1 device-prefetch=1",
            "workers=3 executor=processes task=sample"}) {
        SCOPED_TRACE(place + " " + way);
        reset();
        const RunRecord record = run_on_gpu(common + place + " " + way);
        EXPECT_TRUE(runtime_->samples() == expected);
        const RankRecord& rank = record.ranks.front();
        EXPECT_EQ(rank.stages[Stage::gpu_augment].count, 10);
        EXPECT_EQ(rank.stages[Stage::gpu_decode].count > 0, place != "augment-on=gpu");
        EXPECT_EQ(value(record, "decode.by_engines") == 46, place == "decode=hw");
        EXPECT_GT(value(record, "gpu.buffer_bytes"), 0);
      }
    }
  }
}

TEST_F(CudaProduction, CropsKeptImages) {
  const Photos photos(11);
  const source::TempFolder small;
  put_small_copies(photos, 11, 20, small);
  for (const std::string_view form : {kCropAndFlip, kWithSteps}) {
    const std::string common = fmt::format(" {} {}", form, kTwoEpochs);
    const std::vector<std::string> expected =
        HostSamples::make("data=" + small.path() + common, form == kCropAndFlip ? 768 : 4 * 768);
    ASSERT_EQ(expected.size(), 22U);
    for (const std::string way : {"workers=2", "workers=3 executor=processes task=sample"}) {
      SCOPED_TRACE(way);
      reset();
      const RunRecord record =
          run_on_gpu("data=" + photos.path() + common + "resident=decoded:20 " + way);
      EXPECT_TRUE(runtime_->samples() == expected);
      const RankRecord& rank = record.ranks.front();
      EXPECT_EQ(rank.stages[Stage::read].count, 0);
      EXPECT_EQ(rank.stages[Stage::decode].count, 0);
      EXPECT_EQ(rank.stages[Stage::gpu_augment].count, 6);
      EXPECT_EQ(value(record, "memory.gpu_data_bytes"), 11 * 3 * 20 * 20);
      EXPECT_EQ(record.before_first_ask.back().first, "read");
    }
  }
}

TEST_F(CudaProduction, RefusesDataSetThatDoesNotFit) {
  const Photos photos(100);
  const std::string settings =
      fmt::format("data={} {} {} workers=2 ", photos.path(), kCropAndFlip, kTwoEpochs);
  runtime_->memory = Bytes{24} << 20;  // half of it has room for the batches
  EXPECT_EQ(failure_on_gpu(settings + "augment-on=gpu"), "");
  reset();
  runtime_->memory = Bytes{24} << 20;
  // 100 images of 197 kB.
  EXPECT_THAT(failure_on_gpu(settings + "resident=decoded:256"),
              HasSubstr("GPU 0: the data set takes"));
  EXPECT_EQ(runtime_->owned(), 0);
}

TEST_F(CudaProduction, DecodesWithCudaWithoutEngines) {
  const Photos photos(10);
  nvjpeg_->engines = 0;
  const std::string common = fmt::format("data={} {} {}", photos.path(), kCropAndFlip, kTwoEpochs);
  EXPECT_THAT(failure_on_gpu(common + "workers=2 decode=hw"), HasSubstr("GPU 0"));
  reset();
  nvjpeg_->engines = 0;
  nvjpeg_->has_regions = false;  // whole images are decoded
  const RunRecord record = run_on_gpu(common + "workers=2 decode=gpu");
  EXPECT_TRUE(runtime_->samples() == HostSamples::make(common, 768));
  EXPECT_EQ(value(record, "decode.by_engines"), 0);
  EXPECT_EQ(value(record, "decode.by_cuda"), 20);
  reset();
  nvjpeg_->engines = 0;
  nvjpeg_->has_regions = false;
  run_on_gpu(common + "workers=2 decode=split:0.5");
  EXPECT_TRUE(runtime_->samples() == HostSamples::make(common, 768));
}

TEST_F(CudaProduction, ReplacesImagesThatAreDamagedAfterTheirHeader) {
  const Photos photos(9);
  for (const int index : {2, 3, 8}) {
    std::ifstream file(photos.image(index), std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(file), {});
    bytes.resize(bytes.size() * 6 / 10);
    std::ofstream(photos.image(index), std::ios::binary) << bytes << "\xff\xd9";
  }
  const std::string common = fmt::format("data={} {} {}", photos.path(), kCropAndFlip, kTwoEpochs);
  const std::vector<std::string> expected = HostSamples::make(common, 768);
  for (const std::string way : {"workers=2", "workers=2 executor=processes task=sample"}) {
    reset();
    const RunRecord record = run_on_gpu(common + "decode=hw " + way);
    EXPECT_TRUE(runtime_->samples() == expected) << way;
    EXPECT_EQ(record.skipped.samples, 6) << way;
    EXPECT_EQ(value(record, "decode.by_engines") + value(record, "decode.by_cpu"), 18) << way;
  }
  EXPECT_THAT(failure_on_gpu(common + "decode=hw workers=2 on-error=fail"),
              HasSubstr("its JPEG data"));
}

TEST_F(CudaProduction, TakesNoMemoryAfterTheStart) {
  const Photos photos(20);
  std::vector<int> allocations;
  for (const int epochs : {1, 4}) {
    reset();
    run_on_gpu(fmt::format("data={} {} batch=5 warmup=0 epochs={} workers=2 decode=split:0.7",
                           photos.path(), kWithSteps, epochs));
    allocations.push_back(runtime_->calls("allocate") + runtime_->calls("allocate_host"));
  }
  EXPECT_EQ(allocations[0], allocations[1]);
}

// The times of the GPU are in the model, without declared costs.
TEST_F(CudaProduction, PredictsFromMeasuredWork) {
  const Photos photos(40);
  RunRecord record =
      run_on_gpu(fmt::format("data={} {} batch=8 warmup=2 steps=40 workers=2 compute=2ms decode=hw",
                             photos.path(), kCropAndFlip));
  record.config.declared.cost = {};
  const RunConfig base = declare_device_work(record);
  ASSERT_NE(base.declared_cost(Stage::gpu_decode), nullptr);
  const RankRecord& rank = record.ranks.front();
  EXPECT_NEAR(
      base.declared_cost(Stage::gpu_decode)->amount.mean,
      static_cast<double>(rank.stages[Stage::gpu_decode].wall) / static_cast<double>(rank.samples),
      1);
  EXPECT_NO_THROW(FittedModel(record).predict({}, 1'000));
}

TEST_F(CudaProduction, RefusesMemoryThatDoesNotFit) {
  const Photos photos(5);
  runtime_->memory = Bytes{300} << 20;
  const std::string settings =
      fmt::format("data={} {} {} workers=2 decode=hw", photos.path(), kCropAndFlip, kTwoEpochs);
  EXPECT_THAT(failure_on_gpu(settings), HasSubstr("half of the free memory is"));
  EXPECT_EQ(runtime_->owned(), 0);
}

TEST_F(CudaProduction, SaysWhyNvjpegIsMissing) {
  const Photos photos(5);
  nvjpeg_ = nullptr;
  missing_ = "nvJPEG was not found";
  EXPECT_THAT(failure_on_gpu(fmt::format("data={} {} {} workers=2 decode=hw", photos.path(),
                                         kCropAndFlip, kTwoEpochs)),
              HasSubstr("GPU 0: nvJPEG was not found"));
}

TEST_F(CudaProduction, EndsWithSentenceWhenEnginesHangOrDeviceIsLost) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the run is kept, and later tests fork";
#endif
  const Photos photos(10);
  const std::string settings =
      fmt::format("data={} {} batch=5 epochs=9 warmup=0 workers=2 decode=hw timeout=1s",
                  photos.path(), kCropAndFlip);
  nvjpeg_->hangs_at = 8;
  EXPECT_THAT(failure_on_gpu(settings), HasSubstr("no batch came for 1.000 s"));
  reset();
  nvjpeg_->loses_at = 8;
  EXPECT_THAT(failure_on_gpu(settings), HasSubstr("GPU 0"));
}

}  // namespace
}  // namespace loaderscope::native
