// Stored images that a pretended GPU keeps: it decodes them from its own memory, and the samples
// stay the same.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <map>

#include "dataset/make.h"
#include "unit/native/cuda_runs.h"
#include "unit/native/photos.h"

namespace loaderscope::native {
namespace {

using cuda::nvjpeg::Code;
using ::testing::HasSubstr;

class CudaResident : public CudaRuns {
 protected:
  static std::string common(const Photos& photos, std::string_view form = kCropAndFlip) {
    return fmt::format("data={} {} {}", photos.path(), form, kTwoEpochs);
  }
  static std::string stored(const Photos& photos, std::string_view more = "workers=2") {
    return fmt::format("{} decode=hw resident=stored {}", common(photos), more);
  }
  // Makes the scan of an image shorter. Its header and its end are good.
  static void damage_scan(const Photos& photos, int index) {
    std::ifstream file(photos.image(index), std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(file), {});
    bytes.resize(bytes.size() * 6 / 10);
    std::ofstream(photos.image(index), std::ios::binary) << bytes << "\xff\xd9";
  }
  // Counts of the ways of images, and of the reasons of refused ones.
  static std::map<std::string, double> decoders(const RunRecord& record) {
    std::map<std::string, double> found;
    for (const Metric& metric : record.metrics)
      if (metric.name.starts_with("decode.")) found[metric.name] = metric.value;
    return found;
  }
};

TEST_F(CudaResident, MakesBytesOfTheHost) {
  const Photos photos(23);
  for (const std::string_view form : {kCropAndFlip, kWithSteps}) {
    const std::vector<std::string> expected =
        HostSamples::make(common(photos, form), form == kCropAndFlip ? 768 : 4 * 768);
    ASSERT_EQ(expected.size(), 46U);
    for (const std::string place : {" decode=hw ", " decode=gpu ", " decode=split:0.5 "}) {
      for (const std::string way :
           {"workers=2", "workers=2 memory=pin-thread in-flight=1 device-prefetch=1",
            "workers=3 executor=processes task=sample"}) {
        SCOPED_TRACE(place + way);
        reset();
        const RunRecord record =
            run_on_gpu(common(photos, form) + place + "resident=stored " + way);
        EXPECT_TRUE(runtime_->samples() == expected);
        EXPECT_EQ(runtime_->calls("copy_out"), 0);
        const RankRecord& rank = record.ranks.front();
        EXPECT_EQ(rank.stages[Stage::gpu_augment].count, 10);
        EXPECT_GT(rank.stages[Stage::gpu_decode].count, 0);
        if (place == " decode=split:0.5 ") continue;
        EXPECT_EQ(rank.stages[Stage::gpu_decode].count, 10);
        EXPECT_EQ(rank.stages[Stage::read].count, 0);
        EXPECT_EQ(rank.stages[Stage::decode].count, 0);
        EXPECT_EQ(value(record, "decode.by_engines"), 46);
      }
    }
  }
}

TEST_F(CudaResident, ParsesEachHeaderOnce) {
  const Photos photos(20);
  std::vector<int> parsed;
  for (const int epochs : {1, 4}) {
    reset();
    run_on_gpu(
        fmt::format("data={} {} batch=5 warmup=0 epochs={} workers=2 decode=hw "
                    "resident=stored",
                    photos.path(), kCropAndFlip, epochs));
    parsed.push_back(nvjpeg_->calls("parse"));
  }
  EXPECT_EQ(parsed[0], 21);  // one of them warms up nvJPEG
  EXPECT_EQ(parsed[1], 21);
}

TEST_F(CudaResident, TakesNoMemoryAfterTheStart) {
  dataset::MakeOptions mixed = Photos::small_photos();
  mixed.progressive_share = 0.2;
  const Photos photos(20, mixed);
  damage_scan(photos, 3);
  std::vector<int> taken;
  for (const int epochs : {1, 4}) {
    reset();
    run_on_gpu(
        fmt::format("data={} {} batch=5 warmup=0 epochs={} workers=2 decode=split:0.7 "
                    "resident=stored",
                    photos.path(), kWithSteps, epochs));
    taken.push_back(runtime_->calls("allocate") + runtime_->calls("allocate_host"));
  }
  EXPECT_EQ(taken[0], taken[1]);
}

TEST_F(CudaResident, BooksAsTheSimulatedDevice) {
  const Photos photos(20);
  const RunRecord on_sim = run(stored(photos) +
                               " device=sim cost=gpu-decode=1us "
                               "cost=gpu-augment=1us");
  const RunRecord on_gpu = run_on_gpu(stored(photos));
  for (const Stage stage : {Stage::read, Stage::decode, Stage::gpu_decode, Stage::gpu_augment})
    EXPECT_EQ(on_gpu.ranks.front().stages[stage].count, on_sim.ranks.front().stages[stage].count)
        << name_of(stage);
  EXPECT_EQ(decoders(on_gpu), decoders(on_sim));
  EXPECT_GT(value(on_gpu, "memory.gpu_data_bytes"), 0);
  EXPECT_EQ(value(on_gpu, "memory.gpu_data_bytes"), value(on_sim, "memory.gpu_data_bytes"));
  EXPECT_EQ(on_gpu.before_first_ask.back().first, "read");
  EXPECT_EQ(on_sim.before_first_ask.back().first, "read");
}

TEST_F(CudaResident, LeavesRefusedAndTruncatedImagesToWorkers) {
  dataset::MakeOptions mixed = Photos::small_photos();
  mixed.progressive_share = 0.5;
  const Photos photos(20, mixed);
  photos.damage(2);
  photos.damage(3);
  const std::vector<std::string> expected = HostSamples::make(common(photos), 768);
  const RunRecord read = run_on_gpu(common(photos) + " decode=hw workers=2");
  reset();
  const RunRecord kept = run_on_gpu(stored(photos));
  EXPECT_TRUE(runtime_->samples() == expected);
  EXPECT_EQ(kept.skipped.samples, read.skipped.samples);
  EXPECT_EQ(decoders(kept), decoders(read));
  EXPECT_GT(value(kept, "decode.refused_progressive"), 0);
}

TEST_F(CudaResident, ReplacesImagesThatAreDamagedAfterTheirHeader) {
  const Photos photos(9);
  for (const int index : {2, 3, 8}) damage_scan(photos, index);
  const std::vector<std::string> expected = HostSamples::make(common(photos), 768);
  for (const std::string way : {"workers=2", "workers=2 executor=processes task=sample"}) {
    reset();
    const RunRecord record = run_on_gpu(stored(photos, way));
    EXPECT_TRUE(runtime_->samples() == expected) << way;
    EXPECT_EQ(record.skipped.samples, 6) << way;
    EXPECT_EQ(value(record, "decode.by_engines") + value(record, "decode.by_cpu"), 18) << way;
    EXPECT_GE(runtime_->calls("copy_out"), 6) << way;
  }
  EXPECT_THAT(failure_on_gpu(stored(photos) + " on-error=fail"), HasSubstr("its JPEG data"));
}

TEST_F(CudaResident, DecodesWithCudaWithoutEngines) {
  const Photos photos(10);
  nvjpeg_->engines = 0;
  EXPECT_THAT(failure_on_gpu(stored(photos)), HasSubstr("GPU 0 has no JPEG engines"));
  reset();
  nvjpeg_->engines = 0;
  const RunRecord record = run_on_gpu(common(photos) + " decode=gpu resident=stored workers=2");
  EXPECT_TRUE(runtime_->samples() == HostSamples::make(common(photos), 768));
  EXPECT_EQ(value(record, "decode.by_cuda"), 20);
}

TEST_F(CudaResident, SaysThatBackEndIsMissing) {
  const Photos photos(10);
  for (const Code code : {Code::arch_mismatch, Code::invalid_parameter}) {
    reset();
    nvjpeg_->device_backends_give = code;
    const std::string failure = failure_on_gpu(stored(photos));
    EXPECT_THAT(failure, HasSubstr("GPU 0: nvJPEG 13.0.1 cannot decode images that lie in the "
                                   "memory of this GPU"));
    EXPECT_THAT(failure, HasSubstr("leave out --resident"));
    EXPECT_EQ(runtime_->owned(), 0);
  }
}

// The batches have room in half of the memory, and the data set has not.
TEST_F(CudaResident, RefusesDataSetThatDoesNotFit) {
  const Photos photos(100);
  const RunRecord fits = run_on_gpu(stored(photos));
  const double needed = value(fits, "gpu.buffer_bytes");
  const double data = value(fits, "memory.gpu_data_bytes");
  ASSERT_GT(data, 50'000);
  reset();
  runtime_->memory = static_cast<Bytes>(2 * (needed - data / 2));
  const std::string failure = failure_on_gpu(stored(photos));
  EXPECT_THAT(failure, HasSubstr("GPU 0: the data set takes"));
  EXPECT_THAT(failure, HasSubstr("half of the free memory is"));
  EXPECT_THAT(failure, HasSubstr("give fewer --samples"));
  EXPECT_EQ(runtime_->owned(), 0);
  reset();
  runtime_->memory = static_cast<Bytes>(2 * (needed - data / 2));
  EXPECT_EQ(failure_on_gpu(common(photos) + " decode=hw workers=2"), "");
}

TEST_F(CudaResident, SaysThatAnotherProgramTookTheMemory) {
  const Photos photos(100);
  runtime_->memory_after_first_question = 1'000;
  const std::string failure = failure_on_gpu(stored(photos));
  EXPECT_THAT(failure, HasSubstr("GPU 0: the data set takes"));
  EXPECT_THAT(failure, HasSubstr("are free now"));
  EXPECT_EQ(runtime_->owned(), 0);
}

TEST_F(CudaResident, EndsWithSentenceWhenDeviceIsLostWhileLoading) {
  const Photos photos(100);
  runtime_->lost_copy_bytes = 20'000;  // the data set alone is as large
  const std::string failure = failure_on_gpu(stored(photos));
  EXPECT_THAT(failure, HasSubstr("GPU 0: data set: the GPU was lost"));
  runtime_->free_all();
}

}  // namespace
}  // namespace loaderscope::native
