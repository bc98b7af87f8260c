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

TEST(GpuTimeline, PlacesProductionBetweenCopyAndCompute) {
  GpuTimeline gpu;
  gpu.add_stage(8, Stage::gpu_augment);  // arrives before its kernel
  gpu.copy(100, 104, 1000, 6);
  gpu.kernel(106, 112, 7);
  gpu.kernel(110, 120, 8);
  gpu.kernel(125, 145, 9);
  gpu.add_stage(7, Stage::gpu_decode);  // arrives after its kernel
  const auto work = gpu.take(100, 200);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->compute, (Interval{125, 145, 0, 0}));
  EXPECT_EQ(work->augment, (Interval{117, 125, 0, 0}));
  EXPECT_EQ(work->decode, (Interval{111, 117, 0, 0}));
  EXPECT_EQ(work->copy, (Interval{107, 111, 0, 0}));
  EXPECT_EQ(work->hidden, 0);
}

TEST(GpuTimeline, HidesProductionDuringTraining) {
  GpuTimeline gpu;
  gpu.add_stage(1, Stage::gpu_augment);
  gpu.kernel(110, 130, 1);  // augments the next batch on a stream of its own
  gpu.kernel(120, 150, 2);
  gpu.copy(105, 112, 64, 1);  // a copy in the same call
  const auto work = gpu.take(100, 200);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->compute, (Interval{120, 150, 0, 0}));
  EXPECT_EQ(work->augment, (Interval{105, 120, 0, 0}));
  EXPECT_EQ(work->hidden, 10);
  EXPECT_FALSE(work->copy.ran());
}

TEST(GpuTimeline, CountsWaitForEnginesAsDecode) {
  GpuTimeline gpu;
  gpu.add_stage(1, Stage::gpu_decode);
  gpu.kernel(100, 104, 5);      // compute of the step before
  gpu.decode_call(101, 120);    // waits for it, and for the engines
  gpu.copy(104, 106, 4096, 1);  // a part of the call
  gpu.kernel(116, 120, 1);      // converts the colours
  gpu.kernel(125, 140, 6);
  const auto work = gpu.take(100, 200);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->compute, (Interval{121, 140, 0, 0}));
  EXPECT_EQ(work->decode, (Interval{105, 121, 0, 0}));
  EXPECT_EQ(work->hidden, 3);
  EXPECT_FALSE(work->copy.ran());
}

TEST(GpuTimeline, KeepsProductionAfterLastComputeForNextStep) {
  GpuTimeline gpu;
  gpu.add_stage(1, Stage::gpu_augment);
  gpu.kernel(110, 150, 2);
  gpu.kernel(145, 160, 1);
  EXPECT_EQ(gpu.take(100, 170)->compute, (Interval{110, 150, 0, 0}));
  gpu.kernel(185, 195, 3);
  const auto next = gpu.take(170, 200);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->augment, (Interval{175, 185, 0, 0}));
  EXPECT_EQ(next->compute, (Interval{185, 195, 0, 0}));
}

TEST(GpuTimeline, PlacesNoProductionBeforeStep) {
  GpuTimeline gpu;
  gpu.add_stage(1, Stage::gpu_augment);
  gpu.kernel(110, 150, 2);
  gpu.kernel(150, 168, 1);
  EXPECT_EQ(gpu.take(100, 170)->compute, (Interval{110, 150, 0, 0}));
  gpu.kernel(175, 195, 3);
  EXPECT_EQ(gpu.take(170, 200)->augment, (Interval{170, 175, 0, 0}));
}

TEST(GpuTimeline, TakesStepWithoutTraining) {
  GpuTimeline gpu;
  gpu.add_stage(1, Stage::gpu_augment);
  gpu.kernel(110, 130, 1);
  const auto work = gpu.take(100, 200);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->compute, (Interval{130, 130, 0, 0}));
  EXPECT_EQ(work->augment, (Interval{110, 130, 0, 0}));
}

TEST(CallStages, ForgetsOldestCalls) {
  CallStages stages;
  constexpr std::uint32_t kCalls = (1U << 16) + 2;
  for (std::uint32_t call = 1; call <= kCalls; ++call) stages.add(call, Stage::gpu_decode);
  EXPECT_EQ(stages.find(2), Stage::compute);
  EXPECT_EQ(stages.find(3), Stage::gpu_decode);
  EXPECT_EQ(stages.find(kCalls), Stage::gpu_decode);
  EXPECT_EQ(stages.find(0), Stage::compute);
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
