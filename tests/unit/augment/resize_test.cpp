#include <gtest/gtest.h>

#include "unit/augment/reference.h"

namespace loaderscope::test {
namespace {

// Rounding to 8 bits takes half a level; the fixed-point arithmetic may take a tenth more.
constexpr double kRounding = 0.6;

AugmentOptions plain(int size, bool antialias) {
  return {.operations = {"random-resized-crop"},
          .size = size,
          .transfer = Transfer::u8,
          .antialias = antialias};
}

Plane3 expected(const Plane3& image, const Region& crop, const AugmentOptions& options,
                bool mirrored = false) {
  const double size = options.size;
  return resized(image, {crop, size, size, 0, 0, options.antialias, mirrored}, options.size);
}

void expect_exact(const Plane3& image, const AugmentOptions& options, std::int64_t sample,
                  double tolerance = kRounding) {
  const Made made = make_sample(options, image, sample);
  const double difference = largest_difference(sample_values(made.bytes, options),
                                               expected(image, made.recipe.region, options));
  EXPECT_LE(difference, tolerance)
      << image.width << "x" << image.height << " to " << options.size << ", crop "
      << made.recipe.region.width << "x" << made.recipe.region.height
      << (options.antialias ? ", antialias" : "");
}

TEST(AugmentResize, EqualsTheDefinitionForRandomSizesAndCrops) {
  std::mt19937 random(7);
  for (int round = 0; round < 120; ++round) {
    const int width = 1 + static_cast<int>(random() % 300),
              height = 1 + static_cast<int>(random() % 300);
    const int size = 1 + static_cast<int>(random() % 130);
    expect_exact(picture(width, height, static_cast<unsigned>(round)), plain(size, round % 2 == 0),
                 round);
  }
}

TEST(AugmentResize, EqualsTheDefinitionForAPhotographsSize) {
  for (const bool antialias : {false, true}) {
    for (int sample = 0; sample < 4; ++sample) {
      expect_exact(picture(500, 375, 3), plain(224, antialias), sample);
    }
  }
}

TEST(AugmentResize, HandlesTheSmallestAndTheNarrowest) {
  const std::array<std::array<int, 2>, 8> sizes = {
      {{1, 1}, {1, 2}, {2, 1}, {3, 3}, {1, 500}, {500, 1}, {21, 400}, {22, 400}}};
  for (const auto& [width, height] : sizes) {
    for (const int size : {1, 2, 15, 16, 17, 63, 64, 65, 224}) {
      for (const bool antialias : {false, true})
        expect_exact(picture(width, height, 5), plain(size, antialias), 1);
    }
  }
}

TEST(AugmentResize, KeepsItsPrecisionForLargeReductions) {
  for (const bool antialias : {false, true}) {
    expect_exact(picture(3000, 2000, 9), plain(8, antialias), 0);
    expect_exact(picture(2000, 40, 9), plain(3, antialias), 1);
    expect_exact(picture(40, 3000, 9), plain(1, antialias), 2);
  }
}

TEST(AugmentResize, KeepsEveryConstantImage) {
  for (const int value : {0, 1, 127, 254, 255}) {
    Plane3 image(700, 333);
    std::ranges::fill(image.values, value);
    for (const bool antialias : {false, true}) {
      const AugmentOptions options = plain(97, antialias);
      const Plane3 made = sample_values(make_sample(options, image).bytes, options);
      EXPECT_EQ(std::ranges::count(made.values, value),
                static_cast<std::ptrdiff_t>(made.values.size()));
    }
  }
}

TEST(AugmentResize, ReadsOnlyTheRegionOfAHugeImage) {
  AugmentOptions options = plain(64, true);
  options.operations = {"random-resized-crop:0.000001..0.000001"};
  const auto augmenter = make_augmenter(options);
  const AugmentRecipe recipe = augmenter->choose(0, 0, {60'000, 40'000});
  const Region& region = recipe.region;
  EXPECT_LE(region.width, 60);
  Plane3 part = picture(region.width, region.height, 1);
  Decoded decoded(part, {0, 0, region.width, region.height});
  decoded.pixels.region = region;
  std::vector<std::byte> bytes(static_cast<std::size_t>(sample_bytes(options)));
  augmenter->apply(decoded.pixels, recipe, bytes.data());
  const Region whole = {0, 0, region.width, region.height};
  EXPECT_LE(largest_difference(sample_values(bytes, options), expected(part, whole, options)),
            kRounding);
}

TEST(AugmentResize, TakesMoreThanItAskedForAndRefusesLess) {
  const Plane3 image = picture(200, 150, 4);
  const AugmentOptions options = plain(70, true);
  const auto augmenter = make_augmenter(options);
  const Made exact = make_sample(*augmenter, options, image, 3);
  std::vector<std::byte> bytes(exact.bytes.size());
  augmenter->apply(Decoded(image, {0, 0, 200, 150}).pixels, exact.recipe, bytes.data());
  EXPECT_EQ(bytes, exact.bytes);
  Region less = exact.recipe.region;
  --less.height;
  EXPECT_THROW(augmenter->apply(Decoded(image, less).pixels, exact.recipe, bytes.data()),
               std::logic_error);
}

TEST(AugmentResize, MirrorsWithoutChangingAByte) {
  for (const int size : {7, 64, 224}) {
    AugmentOptions options = plain(size, true);
    const Plane3 image = picture(260, 200, 8);
    options.operations = {"random-resized-crop", "flip:0"};
    const Plane3 straight = sample_values(make_sample(options, image).bytes, options);
    options.operations = {"random-resized-crop", "flip:1"};
    const Made made = make_sample(options, image);
    const Plane3 mirrored = sample_values(made.bytes, options);
    for (int i = 0; i < size * size; ++i) {
      for (int c = 0; c < 3; ++c) {
        ASSERT_EQ(mirrored.at(i % size, i / size, c),
                  straight.at(size - 1 - i % size, i / size, c));
      }
    }
    EXPECT_LE(largest_difference(mirrored, expected(image, made.recipe.region, options, true)),
              kRounding);
    options.operations = {"random-resized-crop", "flip:1", "flip:1"};
    EXPECT_EQ(
        largest_difference(sample_values(make_sample(options, image).bytes, options), straight), 0);
  }
}

TEST(AugmentResize, ResizesTheWholeAndCropsTheCentre) {
  const std::array<std::array<int, 2>, 5> sizes = {
      {{500, 375}, {375, 500}, {300, 300}, {90, 400}, {77, 61}}};
  for (const auto& [width, height] : sizes) {
    for (const bool antialias : {false, true}) {
      AugmentOptions options = plain(112, antialias);
      options.operations = {"resize-centre-crop:128"};
      const Plane3 image = picture(width, height, 2);
      const int tall = height > width ? 128 * height / width : 128,
                wide = width > height ? 128 * width / height : 128;
      const auto centred = [](int length) {
        return static_cast<int>(std::nearbyint((length - 112) / 2.0));
      };
      const Resize whole{{0, 0, width, height},
                         static_cast<double>(wide),
                         static_cast<double>(tall),
                         centred(wide),
                         centred(tall),
                         antialias,
                         false};
      const Made made = make_sample(options, image);
      EXPECT_LE(largest_difference(sample_values(made.bytes, options), resized(image, whole, 112)),
                kRounding)
          << width << "x" << height;
      EXPECT_LT(made.recipe.region.width * made.recipe.region.height, width * height);
    }
  }
}

// All types and layouts hold the function of the 8-bit values that normalise stands for.
TEST(AugmentOutput, NormalisesInEveryLayoutAndType) {
  const std::array<double, 3> mean = {0.485, 0.456, 0.406}, deviation = {0.229, 0.224, 0.225};
  const Plane3 image = picture(300, 260, 6);
  for (const int size : {5, 64, 100, 224}) {
    const AugmentOptions u8 = plain(size, true);
    Plane3 exact = sample_values(make_sample(u8, image).bytes, u8);
    for (std::size_t i = 0; i < exact.values.size(); ++i) {
      exact.values[i] = (exact.values[i] / 255 - mean[i % 3]) / deviation[i % 3];
    }
    for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
      for (const Transfer transfer : {Transfer::f16, Transfer::f32}) {
        AugmentOptions options = u8;
        options.operations = {"random-resized-crop", "normalise"};
        options.layout = layout;
        options.transfer = transfer;
        const double difference =
            largest_difference(sample_values(make_sample(options, image).bytes, options), exact);
        EXPECT_LE(difference, transfer == Transfer::f32 ? 1e-6 : 1.1e-3) << size;
      }
    }
    AugmentOptions packed = u8;
    packed.layout = Layout::nhwc;
    EXPECT_EQ(sample_values(make_sample(packed, image).bytes, packed).values,
              sample_values(make_sample(u8, image).bytes, u8).values);
  }
}

TEST(AugmentOutput, TakesAGivenMeanAndDeviationAndElseGivesZeroToOne) {
  const Plane3 image = picture(100, 100, 6);
  AugmentOptions options = plain(64, true);
  const Plane3 u8 = sample_values(make_sample(options, image).bytes, options);
  options.transfer = Transfer::f32;
  const auto expect = [&](double mean, double deviation) {
    Plane3 exact = u8;
    for (double& value : exact.values) value = (value / 255 - mean) / deviation;
    EXPECT_LE(largest_difference(sample_values(make_sample(options, image).bytes, options), exact),
              1e-6);
  };
  expect(0, 1);
  options.operations = {"random-resized-crop", "normalise:0.5:0.25"};
  expect(0.5, 0.25);
  options.operations = {"random-resized-crop", "normalise:0.5:0.5:0.5:0.25:0.25:0.25"};
  expect(0.5, 0.25);
}

}  // namespace
}  // namespace loaderscope::test
