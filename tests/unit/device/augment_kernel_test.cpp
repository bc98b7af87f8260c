// The kernels that augment a batch, on the pretended GPU, against the augmentation of the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>

#include "loaderscope/decode.h"
#include "loaderscope/errors.h"
#include "unit/decode/made_jpeg.h"
#include "unit/device/augment_cases.h"
#include "unit/device/pretend_runtime.h"

namespace loaderscope::cuda {
namespace {

TEST(DeviceAugment, MakesBytesOfHostForCrops) {
  PretendRuntime runtime;
  expect_host_bytes(runtime, CaseKind::crops, 500);
}

TEST(DeviceAugment, MakesBytesOfHostForTinyImages) {
  PretendRuntime runtime;
  expect_host_bytes(runtime, CaseKind::tiny, 500);
}

TEST(DeviceAugment, MakesBytesOfHostForColours) {
  PretendRuntime runtime;
  expect_host_bytes(runtime, CaseKind::colours, 500);
}

TEST(DeviceAugment, MakesBytesOfHostForWarps) {
  PretendRuntime runtime;
  expect_host_bytes(runtime, CaseKind::warps, 500);
}

TEST(DeviceAugment, MakesBytesOfHostForFarWarps) {
  PretendRuntime runtime;
  expect_host_bytes(runtime, CaseKind::far_warps, 500);
}

TEST(DeviceAugment, MakesBytesOfHostForEightSteps) {
  PretendRuntime runtime;
  expect_host_bytes(runtime, CaseKind::eight_steps, 500);
}

TEST(DeviceAugment, MakesBytesOfHostForScaledDecodes) {
  PretendRuntime runtime;
  expect_host_bytes(runtime, CaseKind::scaled, 500);
}

TEST(DeviceAugment, MakesBytesOfHostFromItsCrops) {
  PretendRuntime runtime;
  expect_host_bytes(runtime, CaseKind::cropped, 500);
}

TEST(DeviceAugment, MakesBytesOfHostForLargestSize) {
  PretendRuntime runtime;
  expect_host_bytes(runtime, CaseKind::large, 4);
}

// The drawn cases have every kind of sample that the kernels treat in their own way.
TEST(DeviceAugmentCases, CoversAllBranches) {
  std::set<std::string> seen;
  std::set<int> step_counts, denominators;
  double largest_scale = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    for (const CaseKind kind : {CaseKind::crops, CaseKind::eight_steps, CaseKind::scaled}) {
      const AugmentCase made = CaseMaker(kind, seed).make();
      for (const CaseSample& sample : made.samples) {
        const AugmentRecipe& recipe = sample.recipe;
        const bool is_wide = recipe.x.scale > 1, is_tall = recipe.y.scale > 1;
        seen.insert(std::string(made.options.antialias ? "smooth" : "plain") +
                    (is_wide ? " wide" : "") + (is_tall ? " tall" : ""));
        if (recipe.is_mirrored) seen.insert("mirrored");
        if (sample.pixels.region.x > 0 && sample.pixels.region.y > 0) seen.insert("origin");
        step_counts.insert(recipe.step_count);
        denominators.insert(sample.pixels.scale_denominator);
        if (!sample.is_crop)
          largest_scale = std::max({largest_scale, recipe.x.scale, recipe.y.scale});
      }
    }
  }
  EXPECT_THAT(
      seen, testing::UnorderedElementsAre("mirrored", "origin", "plain", "plain tall", "plain wide",
                                          "plain wide tall", "smooth", "smooth tall", "smooth wide",
                                          "smooth wide tall"));
  EXPECT_TRUE(step_counts.contains(0));
  EXPECT_TRUE(step_counts.contains(kMaxRecipeSteps));
  EXPECT_EQ(denominators, (std::set{1, 2, 4}));
  EXPECT_GT(largest_scale, 0.8 * kMaxKernelScale);
}

AugmentRecipe choose_crop(const AugmentOptions& options, int side) {
  return make_augmenter(options)->choose(0, 0, {side, side});
}

TEST(DeviceAugmentJob, AcceptsScalesThatFit) {
  AugmentOptions options{.operations = {"resize-centre-crop:64"}, .size = 64};
  EXPECT_TRUE(fits_kernel(options, choose_crop(options, 64 * kMaxKernelScale)));
  const AugmentRecipe wider = choose_crop(options, 64 * kMaxKernelScale + 1);
  EXPECT_FALSE(fits_kernel(options, wider));
  EXPECT_THROW(make_sample_job(options, wider, {}), std::logic_error);
  options.antialias = false;  // two taps at any scale
  EXPECT_TRUE(fits_kernel(options, wider));
}

TEST(DeviceAugmentJob, UsesNoMorePairsThanShared) {
  for (const double scale : {1.0, 1.5, 15.9, 15.999999, static_cast<double>(kMaxKernelScale)}) {
    for (int pixels = 1; pixels < 40; ++pixels) {
      const augment::TapShape shape = augment::tap_shape({0.3, scale, 0, pixels}, true);
      EXPECT_LE(shape.pairs, kMaxKernelPairs) << scale << ' ' << pixels;
    }
  }
}

TEST(DeviceAugmentJob, RejectsSizeWithoutSharedMemory) {
  const AugmentOptions options{.operations = {"resize-centre-crop"}, .size = kMaxKernelSize + 1};
  EXPECT_FALSE(fits_kernel(options));
  PretendRuntime runtime;
  DeviceObjects objects(runtime, "GPU 0");
  AugmentJob job = make_augment_job(options);
  EXPECT_EQ(runtime.augment(job, objects.stream()).name, "cudaErrorInvalidValue");
}

TEST(DeviceAugmentJob, RejectsPixelsThatLackAPart) {
  const AugmentOptions options{.operations = {"resize-centre-crop"}, .size = 8};
  const AugmentRecipe recipe = choose_crop(options, 20);
  Pixels pixels{nullptr, 60, recipe.region, 1};
  EXPECT_NO_THROW(make_sample_job(options, recipe, pixels));
  pixels.region.height -= 1;
  EXPECT_THROW(make_sample_job(options, recipe, pixels), std::logic_error);
}

// The filter of the reduced image is wider than the one that chose the pixels.
TEST(DeviceAugmentJob, AcceptsReducedImagesForOnePixel) {
  const AugmentOptions options{
      .operations = {"resize-centre-crop:2"}, .size = 1, .transfer = Transfer::u8};
  const auto augmenter = make_augmenter(options);
  const auto decoder = make_any_decoder({.dct_scale_auto = true, .wanted = options.size});
  std::set<int> denominators;
  for (int width = 1; width <= 12; ++width) {
    for (int height = 1; height <= 12; ++height) {
      const auto stored = made::encode_jpeg(made::photograph(width, height, 1));
      const AugmentRecipe recipe = augmenter->choose(0, 0, decoder->open(stored));
      const Pixels pixels = decoder->decode(recipe.region);
      std::array<std::byte, 3> sample{};
      EXPECT_NO_THROW(augmenter->apply(pixels, recipe, sample.data())) << width << "x" << height;
      EXPECT_NO_THROW(make_sample_job(options, recipe, pixels)) << width << "x" << height;
      denominators.insert(pixels.scale_denominator);
    }
  }
  EXPECT_EQ(denominators, (std::set{1, 2, 4}));
}

TEST(DeviceAugmentJob, CountsTwoImagesPerSample) {
  EXPECT_EQ(scratch_bytes(256, 224), Bytes{256} * 2 * 224 * 224 * 4);
}

TEST(DeviceAugmentJob, CarriesNormalisation) {
  const AugmentJob job =
      make_augment_job({.operations = {"resize-centre-crop", "normalise:0.5:0.25"},
                        .transfer = Transfer::f16,
                        .layout = Layout::nhwc});
  EXPECT_EQ(job.subtract[1], 127.5f);
  EXPECT_EQ(job.multiply[2], static_cast<float>(1 / 63.75));
  EXPECT_EQ(job.type, ValueType::f16);
  EXPECT_TRUE(job.packed);
}

TEST(DeviceAugment, TakesItsTurnOnStream) {
  PretendRuntime runtime;
  const AugmentCase made = CaseMaker(CaseKind::crops, 1).make();
  augment_case(runtime, made);
  const auto copies = runtime.work("copy"), kernels = runtime.work("augment");
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_GE(kernels[0].begin, copies[copies.size() - 2].end);
  EXPECT_GE(copies.back().begin, kernels[0].end);
  EXPECT_EQ(copies.back().from, kernels[0].place);
}

}  // namespace
}  // namespace loaderscope::cuda
