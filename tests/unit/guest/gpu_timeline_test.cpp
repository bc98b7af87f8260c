// Kernels and copies of known times, step by step.
#include "guest/host/gpu_timeline.h"

#include <gtest/gtest.h>

namespace loaderscope::guest {
namespace {

TEST(GpuTimeline, CountsOverlappingKernelsOnceAtEndOfLastKernel) {
  GpuTimeline gpu;
  gpu.kernel(110, 130);
  gpu.kernel(120, 140);  // runs on another stream
  gpu.kernel(150, 160);
  gpu.kernel(115, 118);  // within the first, and late
  const auto work = gpu.take(100, 200);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->compute, (Interval{120, 160, 0, 0}));
  EXPECT_FALSE(work->copy.ran());
}

TEST(GpuTimeline, CountsOnlyCopiesThatNoKernelHides) {
  GpuTimeline gpu;
  gpu.copy(105, 125, 1000);
  gpu.kernel(120, 140);
  gpu.copy(130, 135, 500);  // hidden
  gpu.kernel(145, 150);
  gpu.copy(142, 144, 500);
  gpu.copy(155, 170, 500);  // belongs to the next step: this step does not wait for it
  const auto work = gpu.take(100, 200);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->compute, (Interval{125, 150, 0, 0}));
  EXPECT_EQ(work->copy, (Interval{108, 125, 0, 0}));
  EXPECT_EQ(gpu.copied(), 20 + 5 + 2 + 15);
  EXPECT_EQ(gpu.copied_bytes(), 2500);
}

TEST(GpuTimeline, CutsKernelsAtNextStep) {
  GpuTimeline gpu;
  gpu.kernel(90, 250);
  gpu.kernel(260, 270);
  EXPECT_EQ(gpu.take(100, 200)->compute, (Interval{100, 200, 0, 0}));
  EXPECT_EQ(gpu.take(200, 300)->compute, (Interval{210, 270, 0, 0}));
  EXPECT_FALSE(gpu.take(300, 400));
  EXPECT_EQ(gpu.known_until(), 270);
  gpu.kernel(390, 410);
  EXPECT_EQ(gpu.late(), 1);
  EXPECT_EQ(gpu.take(400, 500)->compute, (Interval{400, 410, 0, 0}));
}

TEST(GpuTimeline, KeepsComputeTimeInBoundedMemory) {
  GpuTimeline gpu;
  constexpr Nanos kKernels = (Nanos{1} << 20) + 1000;
  for (Nanos k = 0; k < kKernels; ++k) gpu.kernel(10 * k, 10 * k + 4);
  const auto work = gpu.take(0, kNever);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->compute.wall(), 4 * kKernels);
}

}  // namespace
}  // namespace loaderscope::guest
