// The kernels on a real GPU against what they promise.
#include "device/cuda/kernels.h"

#include <cmath>
#include <functional>

#include "augment/emitter.h"
#include "gpu/gpu_test.h"
#include "unit/device/run_steps.h"

namespace loaderscope::cuda {
namespace {

constexpr Nanos kLaunch = 20 * kMicrosecond;

TEST_F(GpuTest, RunsSpinForGivenDuration) {
  for (const Nanos duration : {100 * kMicrosecond, kMillisecond, 10 * kMillisecond}) {
    Spin spin;
    spin.duration = duration;
    const Nanos took =
        measure_gpu_time([&](Stream stream) { return runtime_->spin(spin, stream); });
    expect_near(took, duration, duration * 3 / 100 + kLaunch);
  }
}

TEST_F(GpuTest, EndsSpinOnAbort) {
  auto* words = static_cast<std::int64_t*>(objects_->host_memory(64, "words"));
  *words = 1;
  Spin spin;
  spin.duration = 3600 * kSecond;
  spin.abort = words;
  EXPECT_LT(measure_gpu_time([&](Stream stream) { return runtime_->spin(spin, stream); }), kSecond);
}

TEST_F(GpuTest, NormalisesLikeHostCode) {
  constexpr std::int64_t kImages = 3, kPixels = 5 * 7;
  const augment::Scaling scaling = augment::make_scaling(*augment::find_normalise({"normalise"}));
  const Stream stream = objects_->stream();
  std::vector<std::uint8_t> bytes(kImages * kPixels * 3);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 37);
  for (const bool packed : {false, true}) {
    Normalisation job;
    job.images = kImages;
    job.pixels = kPixels;
    job.packed = packed;
    for (std::size_t c = 0; c < 3; ++c) {
      job.subtract[c] = scaling.subtract[c];
      job.multiply[c] = scaling.multiply[c];
    }
    Normalisation on_device = job;
    void* input = objects_->memory(bytes.size(), "bytes");
    on_device.bytes = static_cast<const std::uint8_t*>(input);
    on_device.floats = static_cast<float*>(objects_->memory(4 * bytes.size(), "floats"));
    ASSERT_TRUE(runtime_->copy_to_device(input, bytes.data(), bytes.size(), stream).ok());
    ASSERT_TRUE(runtime_->normalise(on_device, stream).ok());
    std::vector<float> floats(bytes.size());
    ASSERT_TRUE(
        runtime_->copy_to_host(floats.data(), on_device.floats, 4 * bytes.size(), stream).ok());
    ASSERT_TRUE(runtime_->synchronise_device().ok());
    job.bytes = bytes.data();
    for (std::int64_t i = 0; i < job.values(); ++i)
      ASSERT_EQ(floats[static_cast<std::size_t>(i)], normalised(job, i)) << i;
  }
}

class ProductTest : public GpuTest {
 protected:
  static constexpr std::int32_t kSize = 256;
  static constexpr std::size_t kValues = std::size_t{kSize} * kSize;

  // Bytes of 0x3c3c are 2-byte values of 1.0586.
  void expect_products(const std::function<Status(const Gemm&, Stream)>& multiply) {
    Gemm gemm;
    gemm.size = kSize;
    void* a = objects_->memory(2 * kValues, "a");
    void* b = objects_->memory(2 * kValues, "b");
    gemm.c = objects_->memory(4 * kValues, "c");
    ASSERT_TRUE(runtime_->fill(a, 0x3c, 2 * kValues).ok());
    ASSERT_TRUE(runtime_->fill(b, 0x3c, 2 * kValues).ok());
    gemm.a = a;
    gemm.b = b;
    const Stream stream = objects_->stream();
    ASSERT_TRUE(multiply(gemm, stream).ok());
    std::vector<float> products(kValues);
    ASSERT_TRUE(runtime_->copy_to_host(products.data(), gemm.c, 4 * kValues, stream).ok());
    ASSERT_TRUE(runtime_->synchronise_device().ok());
    const float value = 1.0f + 0x3c / 1024.0f;
    for (const float product : products) ASSERT_NEAR(product, kSize * value * value, 0.01);
  }
};

TEST_F(ProductTest, MultipliesWithBuiltInKernel) {
  expect_products([](const Gemm& gemm, Stream stream) {
    return Status{launch_gemm(gemm, static_cast<CUstream_st*>(stream.handle)), "launch_gemm"};
  });
}

TEST_F(ProductTest, MultipliesWithLibrary) {
  objects_->products();
  RecordProperty("library", runtime_->gemm_library());
  expect_products([this](const Gemm& gemm, Stream stream) { return runtime_->gemm(gemm, stream); });
}

TEST_F(GpuTest, StaysUsableAfterFailedAllocation) {
  void* place = nullptr;
  EXPECT_EQ(runtime_->allocate(std::size_t{1} << 50, place).name, "cudaErrorMemoryAllocation");
  EXPECT_TRUE(runtime_->allocate(1 << 20, place).ok());
  EXPECT_TRUE(runtime_->free(place).ok());
  EXPECT_TRUE(runtime_->synchronise_device().ok());
}

}  // namespace
}  // namespace loaderscope::cuda
