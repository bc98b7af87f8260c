#include "probe/pixel_line.h"

#include <gtest/gtest.h>

#include <array>

namespace loaderscope::probe {
namespace {

TEST(PixelLine, FindsBothPartsOfTime) {
  const std::array sizes = {TimedSize{1e5, 20e-6}, TimedSize{2e5, 30e-6}, TimedSize{1e6, 110e-6}};
  const auto line = fit_pixel_line(sizes);
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->image_s, 10e-6, 1e-12);
  EXPECT_NEAR(line->pixels_per_s, 1e10, 1);
}

TEST(PixelLine, IgnoresOneOddSize) {
  const std::array sizes = {TimedSize{1e5, 20e-6}, TimedSize{2e5, 30e-6}, TimedSize{5e5, 400e-6},
                            TimedSize{1e6, 110e-6}, TimedSize{2e6, 210e-6}};
  const auto line = fit_pixel_line(sizes);
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->pixels_per_s, 1e10, 1e8);
  EXPECT_NEAR(line->image_s, 10e-6, 1e-7);
}

// The larger image takes more than its share of pixels, as if small images took negative time.
TEST(PixelLine, GivesNoNegativeTime) {
  const std::array sizes = {TimedSize{1e5, 10e-6}, TimedSize{1e6, 200e-6}};
  const auto line = fit_pixel_line(sizes);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->image_s, 0);
  EXPECT_NEAR(1e5 / line->pixels_per_s, 15e-6, 6e-6);
}

TEST(PixelLine, ReturnsNothingWithoutSlope) {
  const std::array falling = {TimedSize{1e5, 30e-6}, TimedSize{1e6, 20e-6}};
  EXPECT_FALSE(fit_pixel_line(falling));
  EXPECT_FALSE(fit_pixel_line(std::span(falling).first(1)));
  EXPECT_FALSE(fit_pixel_line({}));
}

}  // namespace
}  // namespace loaderscope::probe
