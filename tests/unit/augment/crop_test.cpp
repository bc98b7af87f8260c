#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "augment/operation.h"
#include "unit/augment/reference.h"

namespace loaderscope::test {
namespace {

// torchvision.transforms.RandomResizedCrop.get_params, line by line.
Region get_params(int width, int height, const augment::Draws& draws) {
  const double area = static_cast<double>(height) * width;
  for (unsigned i = 0; i < 10; ++i) {
    const double target_area = area * (0.08 + 0.92 * draws.uniform(2 * i));
    const double low = std::log(3.0 / 4.0), high = std::log(4.0 / 3.0);
    const double aspect_ratio = std::exp(low + (high - low) * draws.uniform(2 * i + 1));
    const int w = static_cast<int>(std::nearbyint(std::sqrt(target_area * aspect_ratio)));
    const int h = static_cast<int>(std::nearbyint(std::sqrt(target_area / aspect_ratio)));
    if (0 < w && w <= width && 0 < h && h <= height) {
      const int y = static_cast<int>(std::floor(draws.uniform(20) * (height - h + 1)));
      const int x = static_cast<int>(std::floor(draws.uniform(21) * (width - w + 1)));
      return {x, y, w, h};
    }
  }
  const double image_ratio = static_cast<double>(width) / height;
  int w = width, h = height;
  if (image_ratio < 3.0 / 4.0) h = static_cast<int>(std::nearbyint(w / (3.0 / 4.0)));
  if (image_ratio > 4.0 / 3.0) w = static_cast<int>(std::nearbyint(h * (4.0 / 3.0)));
  return {(width - w) / 2, (height - h) / 2, w, h};
}

const AugmentOptions kCrop = {.operations = {"random-resized-crop"}, .seed = 11};

TEST(AugmentCrop, FollowsTorchvisionsRule) {
  const auto augmenter = make_augmenter(kCrop);
  const std::array<std::array<int, 2>, 6> sizes = {
      {{500, 375}, {375, 500}, {64, 64}, {1000, 50}, {30, 900}, {1, 1}}};
  for (const auto& [width, height] : sizes) {
    for (std::int64_t sample = 0; sample < 500; ++sample) {
      const Region made = augmenter->choose(2, sample, {width, height}).region;
      const Region exact = get_params(width, height, {11, 2, sample, 0});
      ASSERT_EQ(std::tie(made.x, made.y, made.width, made.height),
                std::tie(exact.x, exact.y, exact.width, exact.height));
    }
  }
}

TEST(AugmentCrop, SpreadsAreaRatioAndPlaceAsTheRuleSays) {
  const auto augmenter = make_augmenter(kCrop);
  constexpr int kSamples = 20'000, kSide = 1000;
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform;
  std::array<double, 4> made{}, exact{};  // area, its square, log ratio squared, place
  for (int sample = 0; sample < kSamples; ++sample) {
    const Region r = augmenter->choose(0, sample, {kSide, kSide}).region;
    const auto add = [&](std::array<double, 4>& sums, double w, double h, double place) {
      const double area = w * h / kSide / kSide, log_ratio = std::log(w / h);
      const std::array<double, 4> terms = {area, area * area, log_ratio * log_ratio, place};
      for (std::size_t i = 0; i < terms.size(); ++i) sums[i] += terms[i] / kSamples;
    };
    add(made, r.width, r.height,
        r.width < kSide ? static_cast<double>(r.x) / (kSide - r.width) : 0.5);
    for (;;) {  // the same rule with another generator, drawn again until it fits
      const double area = kSide * kSide * (0.08 + 0.92 * uniform(random));
      const double ratio = std::pow(16.0 / 9.0, uniform(random) - 0.5);
      const double w = std::sqrt(area * ratio), h = std::sqrt(area / ratio);
      if (w > kSide || h > kSide) continue;
      add(exact, w, h, uniform(random));
      break;
    }
  }
  EXPECT_NEAR(made[0], exact[0], 0.01);
  EXPECT_NEAR(made[1], exact[1], 0.01);
  EXPECT_NEAR(made[2], exact[2], 0.002);
  EXPECT_NEAR(made[3], exact[3], 0.01);
}

TEST(AugmentCrop, DiffersBetweenEpochsSamplesAndSeeds) {
  AugmentOptions other = kCrop;
  other.seed = 12;
  const auto one = make_augmenter(kCrop), two = make_augmenter(other);
  std::set<std::tuple<int, int, int, int>> seen;
  const auto note = [&](const Region& r) { seen.insert({r.x, r.y, r.width, r.height}); };
  for (int i = 0; i < 50; ++i) note(one->choose(0, i, {500, 375}).region);
  for (int i = 1; i < 50; ++i) note(one->choose(i, 0, {500, 375}).region);
  for (int i = 0; i < 50; ++i) note(two->choose(0, i, {500, 375}).region);
  EXPECT_GE(seen.size(), 145u);
}

TEST(AugmentCrop, StaysInsideExtremeImages) {
  for (const char* operation :
       {"random-resized-crop", "random-resized-crop:0.5..1:100..1000", "resize-centre-crop"}) {
    AugmentOptions options = kCrop;
    options.operations = {operation};
    const auto augmenter = make_augmenter(options);
    const std::array<std::array<int, 2>, 5> sizes = {
        {{1, 1}, {1, 100'000}, {100'000, 1}, {65'535, 65'535}, {2, 3}}};
    for (const auto& [width, height] : sizes) {
      for (int sample = 0; sample < 50; ++sample) {
        const Region r = augmenter->choose(0, sample, {width, height}).region;
        ASSERT_TRUE(r.x >= 0 && r.y >= 0 && r.width > 0 && r.height > 0 && r.x + r.width <= width &&
                    r.y + r.height <= height)
            << operation << " " << width << "x" << height;
      }
    }
  }
}

TEST(AugmentFlip, MirrorsGivenShareOfSamples) {
  AugmentOptions options = {
      .operations = {"resize-centre-crop:8", "flip:0.3"}, .size = 8, .transfer = Transfer::u8};
  const auto augmenter = make_augmenter(options);
  Plane3 image(8, 8);
  image.at(0, 0, 0) = 200;
  int mirrored = 0;
  for (int sample = 0; sample < 4000; ++sample) {
    mirrored += make_sample(*augmenter, options, image, sample).bytes[7] == std::byte{200};
  }
  EXPECT_NEAR(mirrored / 4000.0, 0.3, 0.03);
}

}  // namespace
}  // namespace loaderscope::test
