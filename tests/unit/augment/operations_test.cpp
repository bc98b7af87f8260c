#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "augment/pixel_math.h"
#include "unit/augment/reference.h"

namespace loaderscope::test {
namespace {

using testing::HasSubstr;

std::string refusal(const AugmentOptions& options) {
  try {
    make_augmenter(options);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}
std::string refusal(const std::string& operation) {
  const bool crops = operation.starts_with("random") || operation.starts_with("resize");
  return refusal(crops ? AugmentOptions{.operations = {operation}}
                       : AugmentOptions{.operations = {"random-resized-crop", operation}});
}

TEST(AugmentOperations, SuggestsNearestOperation) {
  EXPECT_THAT(refusal("flop"), HasSubstr("operation 'flop': expected one of"));
  EXPECT_THAT(refusal("flop"), HasSubstr("did you mean 'flip'?"));
  EXPECT_THAT(refusal("normalize"), HasSubstr("did you mean 'normalise'?"));
  EXPECT_THAT(refusal("color-jitter"), HasSubstr("did you mean 'colour-jitter'?"));
}

TEST(AugmentOperations, NamesExpectedParameters) {
  EXPECT_THAT(refusal("flip:2"),
              HasSubstr("operation 'flip:2': expected the probability as a number within 0 and 1, "
                        "not '2'"));
  EXPECT_THAT(refusal("flip:"), HasSubstr("expected [PROBABILITY] after the colon"));
  EXPECT_THAT(refusal("flip:0.5:1"), HasSubstr("expected at most 1 parameter, not 2"));
  EXPECT_THAT(refusal("rotate:1e9"), HasSubstr("expected the angle as a number within 0 and 180"));
  EXPECT_THAT(refusal("rotate:30..-30"),
              HasSubstr("expected the angle as a range MIN..MAX within -180 and 180"));
  EXPECT_THAT(refusal("affine:10:0.1:0.1:2"), HasSubstr("expected the scale as a range MIN..MAX"));
  EXPECT_THAT(refusal("colour-jitter:0.1:0.1:0.1:0.6"), HasSubstr("expected the hue"));
  EXPECT_THAT(refusal("colour-jitter:0.1:x"), HasSubstr("expected the contrast"));
  EXPECT_THAT(refusal("colour-jitter:0.1:"), HasSubstr("expected the contrast"));
  EXPECT_THAT(refusal("normalise:0.5"),
              HasSubstr("expected MEAN:DEVIATION, or three means and three deviations"));
  EXPECT_THAT(refusal("normalise:0.5:0"), HasSubstr("expected the deviation"));
  EXPECT_THAT(refusal("random-resized-crop:0..1"), HasSubstr("expected the share of the area"));
  EXPECT_THAT(refusal("random-resized-crop:0.5"), HasSubstr("as a range MIN..MAX"));
  EXPECT_THAT(refusal("random-resized-crop:0.5..1:nan..2"), HasSubstr("expected width / height"));
  EXPECT_THAT(refusal("resize-centre-crop:200"),
              HasSubstr("expected the short side as a number within 224 and"));
  EXPECT_THAT(refusal("resize-centre-crop:256.5"), HasSubstr("whole number of pixels"));
}

TEST(AugmentOperations, RejectsContradictoryLists) {
  const auto list = [](std::vector<std::string> operations) {
    return refusal(AugmentOptions{.operations = std::move(operations)});
  };
  EXPECT_THAT(list({}), HasSubstr("expected random-resized-crop or resize-centre-crop"));
  EXPECT_THAT(list({"flip"}), HasSubstr("operation 'flip' comes before a crop"));
  EXPECT_THAT(list({"resize-centre-crop", "random-resized-crop"}), HasSubstr("is a second crop"));
  EXPECT_THAT(list({"resize-centre-crop", "normalise", "flip"}), HasSubstr("after normalise"));
  EXPECT_THAT(refusal(AugmentOptions{.transfer = Transfer::u8}), HasSubstr("u8 cannot hold"));
  EXPECT_THAT(refusal(AugmentOptions{.size = 0}), HasSubstr("expected a size of 1 to"));
  EXPECT_THAT(refusal(AugmentOptions{.size = 100'000}), HasSubstr("expected a size of 1 to"));
}

TEST(AugmentOutput, RoundsHalvesToNearestEven) {
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const double here = half_value(static_cast<std::uint16_t>(bits));
    const double next =
        bits + 1 < 0x7c00 ? half_value(static_cast<std::uint16_t>(bits + 1)) : 65536;
    const double middle = (here + next) / 2, little = (next - here) / 8;
    ASSERT_EQ(augment::half_bits(static_cast<float>(here)), bits);
    ASSERT_EQ(augment::half_bits(static_cast<float>(middle)), bits + bits % 2);
    ASSERT_EQ(augment::half_bits(static_cast<float>(middle - little)), bits);
    ASSERT_EQ(augment::half_bits(static_cast<float>(-middle - little)), 0x8000 | (bits + 1));
  }
}

TEST(AugmentOperations, LimitsOperationsAfterCrop) {
  AugmentOptions options;
  options.operations = {"random-resized-crop", "flip"};
  for (std::size_t i = 0; i < kMaxRecipeSteps; ++i) options.operations.push_back("rotate");
  EXPECT_EQ(refusal(options), "");
  options.operations.push_back("flip:0.25");
  EXPECT_EQ(refusal(options),
            "operation 'flip:0.25' is one too many: at most 8 may follow the crop");
}

TEST(AugmentRecipe, MakesEqualBytesInAnotherAugmenter) {
  AugmentOptions options;
  options.operations = {"random-resized-crop", "flip",     "colour-jitter", "rotate:30",
                        "affine:10:0.1:0.1",   "flip:0.5", "normalise"};
  options.size = 40;
  const Plane3 image = picture(90, 70, 1);
  const auto one = make_augmenter(options), other = make_augmenter(options);
  std::set<int> step_counts;
  for (std::int64_t sample = 0; sample < 40; ++sample) {
    const Made made = make_sample(*one, options, image, sample);
    const AugmentRecipe& recipe = made.recipe;
    std::vector<std::byte> followed(made.bytes.size());
    other->apply(Decoded(image, recipe.region).pixels, recipe, followed.data());
    ASSERT_EQ(followed, made.bytes) << sample;
    step_counts.insert(recipe.step_count);
  }
  EXPECT_EQ(step_counts, (std::set{3, 4}));  // the second flip is drawn or not
}

}  // namespace
}  // namespace loaderscope::test
