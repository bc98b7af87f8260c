// Real images through the native engine and the CUDA device, whose runtime and nvJPEG only pretend:
// the GPU makes the bytes that the host makes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "predict/device_fit.h"
#include "predict/fitted_model.h"
#include "unit/native/cuda_runs.h"
#include "unit/native/photos.h"
#include "unit/native/small_copies.h"

namespace loaderscope::native {
namespace {

using ::testing::HasSubstr;

class CudaProduction : public CudaRuns {};

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
