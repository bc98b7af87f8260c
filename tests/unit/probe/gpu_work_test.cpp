// The work of a pretended GPU for a loader: JPEG decoding, augmentation, and what both take from a
// training. The rates follow from the script of the pretended parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "loaderscope/errors.h"
#include "probe/measurement.h"
#include "unit/device/pretend_nvjpeg.h"
#include "unit/device/pretend_runtime.h"
#include "unit/machine/pretend_root.h"

namespace loaderscope::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

class GpuWorkTest : public testing::Test {
 protected:
  GpuWorkTest() {
    runtime_->makes_samples = false;
    runtime_->augment_rate = 1000;
    nvjpeg_->writes_pixels = false;
    nvjpeg_->image_takes = 20 * kMicrosecond;
    nvjpeg_->pixel_rate = 20;
    options_.root = root_.path();
    options_.quick = true;
    options_.runtime = runtime_;
    options_.find_nvjpeg = [this](int) { return cuda::NvjpegLibrary{nvjpeg_, "no libnvjpeg."}; };
  }

  // Ends like a row of a profile.
  Outcome measure(void (*row)(const ProbeContext&, Outcome&), Nanos time = kSecond / 2) {
    const ProbedData data("", "", 1 << 20, stop_);
    const Cpus cpus = read_cpus(options_.root);
    Outcome outcome;
    try {
      row({options_, stop_, cpus, data, monotonic_now() + time}, outcome);
    } catch (const RunError& error) {
      outcome.why_not = error.what();
    }
    return outcome;
  }

  static const Figure* find(const Outcome& outcome, const std::string& name) {
    for (const Figure& figure : outcome.figures) {
      if (figure.name == name) return &figure;
    }
    return nullptr;
  }
  static double value(const Outcome& outcome, const std::string& name) {
    const Figure* figure = find(outcome, name);
    EXPECT_NE(figure, nullptr) << name;
    return figure == nullptr ? 0 : figure->value;
  }

  void expect_all_freed() const {
    EXPECT_EQ(runtime_->owned(), 0);
    EXPECT_EQ(nvjpeg_->owned(), 0);
  }

  test::PretendRoot root_;
  ProfileOptions options_;
  std::atomic<int> stop_{0};
  std::shared_ptr<cuda::PretendRuntime> runtime_ = std::make_shared<cuda::PretendRuntime>();
  std::shared_ptr<cuda::PretendNvjpeg> nvjpeg_ = std::make_shared<cuda::PretendNvjpeg>(*runtime_);
};

// --- jpeg-engines ---

// Seven engines take 10 rounds for a batch of 64, in calls of 63 and of 1. An image of 500x375
// takes 20 + 187,500 / 20,000 us of an engine.
TEST_F(GpuWorkTest, MeasuresEngines) {
  const Outcome outcome = measure(measure_jpeg_engines);
  EXPECT_EQ(outcome.why_not, "");
  EXPECT_EQ(value(outcome, "engines"), 7);
  EXPECT_EQ(value(outcome, "cores"), 1);
  const double batch_s = 10 * 29.375e-6;
  EXPECT_NEAR(value(outcome, "engines_500x375_64") * batch_s / 64, 1, 0.01);
  EXPECT_THAT(outcome.answer, MatchesRegex("7 JPEG engines: 21[678],... images/s of 500x375"));
  EXPECT_NEAR(value(outcome, "engines_image_s"), 20e-6 * 10 / 64, 0.1e-6);
  EXPECT_NEAR(value(outcome, "engines_pixels_per_s"), 20e9 * 6.4, 1e9);
  EXPECT_GT(value(outcome, "engines_cpu_s"), 0);
  EXPECT_EQ(find(outcome, "cuda_500x375_64"), nullptr);  // a quick measurement takes one back end
  expect_all_freed();
}

TEST_F(GpuWorkTest, MeasuresAllSizesBatchesAndBackEnds) {
  options_.quick = false;
  // Few batches in pretended time, of which the making of the images takes nearly nothing.
  nvjpeg_->image_takes = 80 * kMillisecond;
  nvjpeg_->pixel_rate = 0.04;
  const Outcome outcome = measure(measure_jpeg_engines, 600 * kSecond);
  EXPECT_EQ(outcome.why_not, "");
  EXPECT_THAT(outcome.notes, IsEmpty());
  for (const char* size : {"224x224", "500x375", "1280x720", "1920x1080"}) {
    for (const char* batch : {"32", "64", "256"}) {
      for (const char* way : {"engines", "cuda"})
        EXPECT_GT(value(outcome, std::string(way) + "_" + size + "_" + batch), 0);
    }
  }
  // CUDA decodes one image after another. Four calls of 64 make a batch of 256.
  const double image_s = 80e-3 + 224 * 224 / 0.04e9;
  EXPECT_NEAR(value(outcome, "cuda_224x224_64") * image_s, 1, 0.01);
  EXPECT_NEAR(value(outcome, "cuda_224x224_256") * image_s, 1, 0.01);
  EXPECT_NEAR(value(outcome, "cuda_pixels_per_s"), 0.04e9, 0.0004e9);
  EXPECT_THAT(find(outcome, "cuda_224x224_64")->condition, HasSubstr("nvJPEG 13.0.1"));
  expect_all_freed();
}

TEST_F(GpuWorkTest, MeasuresCudaWithoutEngines) {
  nvjpeg_->engines = 0;
  const Outcome outcome = measure(measure_jpeg_engines);
  EXPECT_EQ(outcome.why_not, "");
  EXPECT_EQ(value(outcome, "engines"), 0);
  EXPECT_THAT(outcome.answer, HasSubstr("no JPEG engines, CUDA kernels: 34,"));
  EXPECT_GT(value(outcome, "cuda_pixels_per_s"), 0);
  EXPECT_EQ(find(outcome, "engines_pixels_per_s"), nullptr);
  expect_all_freed();
}

TEST_F(GpuWorkTest, ReportsMissingNvjpeg) {
  nvjpeg_.reset();
  const Outcome outcome = measure(measure_jpeg_engines);
  EXPECT_EQ(outcome.why_not, "no libnvjpeg");
  EXPECT_THAT(outcome.figures, IsEmpty());
  EXPECT_EQ(runtime_->owned(), 0);
}

TEST_F(GpuWorkTest, ReportsMissingGpu) {
  for (const auto row : {measure_jpeg_engines, measure_augment_kernel, measure_gpu_share}) {
    options_.runtime = nullptr;
    EXPECT_EQ(measure(row).why_not, "built without CUDA");
    options_.runtime = runtime_;
    runtime_->driver = 0;
    EXPECT_THAT(measure(row).why_not, HasSubstr("no NVIDIA driver here"));
    runtime_->driver = 13000;
  }
}

TEST_F(GpuWorkTest, LeavesOutSizesThatDoNotFit) {
  runtime_->memory = Bytes{1} << 30;
  const Outcome outcome = measure(measure_jpeg_engines);
  EXPECT_EQ(outcome.why_not, "");
  EXPECT_THAT(outcome.notes, ElementsAre(HasSubstr("JPEG images of 1280x720 are not measured")));
  EXPECT_GT(value(outcome, "engines_500x375_64"), 0);
  EXPECT_EQ(find(outcome, "engines_pixels_per_s"), nullptr);  // one size makes no line
  runtime_->memory = Bytes{1} << 28;
  EXPECT_EQ(measure(measure_jpeg_engines).why_not, "there is too little free GPU memory for it");
  expect_all_freed();
}

TEST_F(GpuWorkTest, ReportsShortMemory) {
  for (const auto row : {measure_jpeg_engines, measure_augment_kernel, measure_gpu_share}) {
    runtime_->fail("allocate", runtime_->calls("allocate") + 1, "cudaErrorMemoryAllocation");
    EXPECT_THAT(measure(row).why_not, HasSubstr("out of memory"));
    expect_all_freed();
  }
}

TEST_F(GpuWorkTest, ReportsLostGpu) {
  nvjpeg_->loses_at = 8;
  const Outcome outcome = measure(measure_jpeg_engines);
  EXPECT_THAT(outcome.why_not, HasSubstr("the GPU was lost"));
  EXPECT_EQ(find(outcome, "engines_pixels_per_s"), nullptr);
  runtime_->free_all();
}

// The engines were measured before.
TEST_F(GpuWorkTest, KeepsEnginesIfCudaFails) {
  options_.quick = false;
  nvjpeg_->image_takes = 80 * kMillisecond;
  nvjpeg_->pixel_rate = 0.04;
  runtime_->memory = Bytes{1} << 30;  // only the two small sizes
  nvjpeg_->image_gives = [&](std::span<const std::byte>) {
    // The third handle is that of the CUDA back end.
    return nvjpeg_->calls("make_handle") > 2 ? cuda::nvjpeg::Code::jpeg_not_supported
                                             : cuda::nvjpeg::Code::success;
  };
  const Outcome outcome = measure(measure_jpeg_engines, 400 * kSecond);
  EXPECT_THAT(outcome.why_not, HasSubstr("nvJPEG failed at a first image"));
  EXPECT_THAT(outcome.answer, HasSubstr("7 JPEG engines: "));
  EXPECT_GT(value(outcome, "engines_pixels_per_s"), 0);
  expect_all_freed();
}

TEST_F(GpuWorkTest, ReportsEnginesThatHang) {
  nvjpeg_->hangs_at = 8;
  options_.gpu_timeout = kSecond / 20;
  const Outcome outcome = measure(measure_jpeg_engines, kSecond / 5);
  EXPECT_EQ(outcome.why_not, "GPU 0: its work did not end within 50.00 ms");
  runtime_->free_all();
}

TEST_F(GpuWorkTest, EndsEarlyAfterStop) {
  int images = 0;
  nvjpeg_->image_gives = [&](std::span<const std::byte>) {
    if (++images == 1000) stop_ = 1;
    return cuda::nvjpeg::Code::success;
  };
  const Outcome decoding = measure(measure_jpeg_engines, 60 * kSecond);
  EXPECT_EQ(decoding.why_not, "it was stopped");
  expect_all_freed();
  EXPECT_EQ(measure(measure_augment_kernel, 60 * kSecond).why_not, "it was stopped");
  EXPECT_EQ(measure(measure_gpu_share, 60 * kSecond).why_not, "it was stopped");
  expect_all_freed();
}

// --- augment-kernel ---

TEST_F(GpuWorkTest, MeasuresKernel) {
  const Outcome outcome = measure(measure_augment_kernel);
  EXPECT_EQ(outcome.why_not, "");
  EXPECT_NEAR(value(outcome, "device_copy"), 1500e9, 1e9);
  const double samples = 1000e9 / (3.0 * 224 * 224);
  for (const std::string type : {"f16", "f32"}) {
    EXPECT_NEAR(value(outcome, type + "_samples"), samples, samples * 0.01);
    EXPECT_DOUBLE_EQ(value(outcome, type + "_of_copies"),
                     value(outcome, type + "_bytes") / value(outcome, "device_copy"));
  }
  const double written = 3.0 * 224 * 224;  // values of a sample; f32 has 2 bytes more in each
  EXPECT_NEAR(value(outcome, "f32_bytes") - value(outcome, "f16_bytes"), samples * 2 * written,
              samples * written * 0.02);
  EXPECT_THAT(outcome.answer, HasSubstr("GPU augments 6,6"));
  expect_all_freed();
}

// --- gpu-share ---

TEST_F(GpuWorkTest, MeasuresSharesOfSpeed) {
  runtime_->slowed = {{"gemm", {{"jpeg", 0.98}, {"augment", 0.5}}},
                      {"device copy", {{"jpeg", 0.96}, {"augment", 0.4}}},
                      {"jpeg", {{"gemm", 0.9}, {"device copy", 0.8}}},
                      {"augment", {{"gemm", 0.7}, {"device copy", 0.6}}}};
  const Outcome outcome = measure(measure_gpu_share, 2 * kSecond);
  EXPECT_EQ(outcome.why_not, "");
  EXPECT_THAT(outcome.notes, IsEmpty());
  EXPECT_NEAR(value(outcome, "products_during_decode"), 0.98, 0.003);
  EXPECT_NEAR(value(outcome, "copies_during_decode"), 0.96, 0.003);
  EXPECT_NEAR(value(outcome, "decode_during_products"), 0.9, 0.02);
  EXPECT_NEAR(value(outcome, "decode_during_copies"), 0.8, 0.02);
  EXPECT_NEAR(value(outcome, "products_during_augment"), 0.5, 0.01);
  EXPECT_NEAR(value(outcome, "copies_during_augment"), 0.4, 0.01);
  EXPECT_NEAR(value(outcome, "augment_during_products"), 0.7, 0.01);
  EXPECT_NEAR(value(outcome, "augment_during_copies"), 0.6, 0.01);
  EXPECT_EQ(outcome.answer, "decoding takes 2 to 4 % of the training's speed");
  EXPECT_THAT(find(outcome, "products_during_decode")->condition,
              HasSubstr("500x375 in batches of 64 by 7 engines"));
  expect_all_freed();
}

TEST_F(GpuWorkTest, MeasuresAugmentationWithoutNvjpeg) {
  nvjpeg_.reset();
  const Outcome outcome = measure(measure_gpu_share);
  EXPECT_EQ(outcome.why_not, "");
  EXPECT_THAT(outcome.notes,
              ElementsAre("decoding during a training is not measured: no libnvjpeg"));
  EXPECT_NEAR(value(outcome, "products_during_augment"), 1, 0.01);
  EXPECT_EQ(find(outcome, "products_during_decode"), nullptr);
  EXPECT_EQ(outcome.answer, "augmentation takes less than 1 % of the training's speed");
  EXPECT_EQ(runtime_->owned(), 0);
}

TEST(Measurements, DividesWholeTime) {
  double sum = 0;
  for (const Measurement& row : measurement_table()) sum += row.share;
  EXPECT_NEAR(sum, 1, 1e-9);
}

}  // namespace
}  // namespace loaderscope::probe
