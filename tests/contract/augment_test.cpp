// Checks that every operation makes the same bytes for the same sample on every instruction set,
// and writes no byte outside the sample.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "unit/augment/reference.h"

namespace loaderscope::test {
namespace {

// A list that may contain the operation.
std::vector<std::string> list_with(std::string_view name) {
  if (name.starts_with("random") || name.starts_with("resize")) return {std::string(name)};
  return {"random-resized-crop", std::string(name)};
}

std::vector<std::vector<std::string>> lists() {
  std::vector<std::vector<std::string>> all;
  for (const OperationRow& row : operation_table()) all.push_back(list_with(row.row.name));
  all.push_back({"random-resized-crop", "flip", "colour-jitter", "affine:20:0.1:0.1:0.5..2:10:10",
                 "flip", "rotate:45", "normalise"});
  return all;
}

bool normalises(const std::vector<std::string>& operations) {
  return operations.back().starts_with("normalise");
}

// Every list with every type, layout and filter, for sizes with and without a rest.
std::vector<AugmentOptions> all_options() {
  std::vector<AugmentOptions> all;
  for (const auto& operations : lists()) {
    for (const Transfer transfer : {Transfer::u8, Transfer::f16, Transfer::f32}) {
      if (transfer == Transfer::u8 && normalises(operations)) continue;
      for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
        for (const int size : {30, 64, 75}) {
          all.push_back({operations, size, transfer, layout, size != 64, 5});
        }
      }
    }
  }
  return all;
}

std::string name_of_case(const AugmentOptions& options) {
  return options.operations.back() + " " + std::string(name_of(options.transfer)) + " " +
         std::to_string(options.size);
}

TEST(AugmentContract, DescribesEveryRow) {
  for (const OperationRow& row : operation_table()) {
    EXPECT_TRUE(row.row.help.ends_with('.')) << row.row.name;
    EXPECT_EQ(row.parameters.find(','), std::string_view::npos);
    EXPECT_NO_THROW(make_augmenter({.operations = list_with(row.row.name)})) << row.row.name;
  }
}

TEST(AugmentContract, MakesEqualBytesForEqualSample) {
  const Plane3 image = picture(150, 130, 1);
  for (const AugmentOptions& options : all_options()) {
    const auto worker = make_augmenter(options), other = make_augmenter(options);
    make_sample(*other, options, picture(33, 900, 2), 17, 3);
    make_sample(*other, options, picture(3, 5, 2), 18, 3);
    const Made first = make_sample(*worker, options, image, 4, 1);
    EXPECT_EQ(first.bytes, make_sample(*other, options, image, 4, 1).bytes)
        << name_of_case(options);
    EXPECT_EQ(first.bytes, make_sample(*worker, options, image, 4, 1).bytes)
        << name_of_case(options);
    if (options.operations[0] == "random-resized-crop") {
      EXPECT_NE(first.bytes, make_sample(*worker, options, image, 4, 2).bytes)
          << name_of_case(options);
    }
  }
}

TEST(AugmentContract, MakesEqualBytesOnEveryInstructionSet) {
  const std::int64_t supported = hwy::SupportedTargets();
  const std::array<Plane3, 4> images = {picture(150, 130, 1), picture(17, 200, 2), picture(9, 5, 3),
                                        picture(900, 700, 4)};
  std::vector<std::vector<std::byte>> expected;
  const auto make_all = [&] {
    std::vector<std::vector<std::byte>> made;
    for (const AugmentOptions& options : all_options()) {
      for (const Plane3& image : images) made.push_back(make_sample(options, image, 2).bytes);
    }
    return made;
  };
  std::vector<std::string> tried;
  for (std::int64_t left = supported; left != 0; left &= left - 1) {
    hwy::SetSupportedTargetsForTest(left & -left);
    hwy::GetChosenTarget().DeInit();
    const std::string target = simd_target();
    if (!tried.empty() && tried.back() == target) continue;
    tried.push_back(target);
    if (expected.empty()) expected = make_all();
    EXPECT_EQ(expected == make_all(), true) << target;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
  RecordProperty("targets", testing::PrintToString(tried));
  EXPECT_GE(tried.size(), 1u);
}

TEST(AugmentContract, WritesOnlyTheSample) {
  constexpr std::size_t kGuard = 128;
  for (const AugmentOptions& options : all_options()) {
    const auto bytes = static_cast<std::size_t>(sample_bytes(options));
    const Plane3 image = picture(80, 60, 1);
    const auto augmenter = make_augmenter(options);
    std::array<std::vector<std::byte>, 2> made;
    for (int fill = 0; fill < 2; ++fill) {  // a byte that is not written shows as a difference
      std::vector<std::byte> place(bytes + 2 * kGuard, std::byte(fill ? 0xa5 : 0x5a));
      const AugmentRecipe recipe = augmenter->choose(0, 0, {image.width, image.height});
      augmenter->apply(Decoded(image, recipe.region).pixels, recipe, place.data() + kGuard);
      for (std::size_t i = 0; i < kGuard; ++i) {
        ASSERT_EQ(place[i], place[0]) << name_of_case(options);
        ASSERT_EQ(place[kGuard + bytes + i], place[0]) << name_of_case(options);
      }
      made[static_cast<std::size_t>(fill)].assign(place.begin() + kGuard, place.end() - kGuard);
    }
    EXPECT_EQ(made[0], made[1]) << name_of_case(options);
  }
}

}  // namespace
}  // namespace loaderscope::test
