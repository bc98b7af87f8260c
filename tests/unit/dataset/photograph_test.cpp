#include "dataset/photograph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace loaderscope::dataset {
namespace {

// Power of the rows' luminance at `cycles` per 256 pixels, under a Hann window.
double power_at(const RgbImage& image, int cycles) {
  constexpr int kLength = 256;
  double power = 0;
  for (int y = 0; y < image.height; y += 3) {
    std::complex<double> sum = 0;
    for (int x = 0; x < kLength; ++x) {
      const std::uint8_t* rgb = image.row(y) + 3 * x;
      const double luminance = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
      const double turn = 2 * std::numbers::pi * x / kLength;
      sum += luminance * (0.5 - 0.5 * std::cos(turn)) * std::polar(1.0, -turn * cycles);
    }
    power += std::norm(sum);
  }
  return power;
}

TEST(Photograph, MatchesSpectrumOfPhotographs) {
  Photographer photographer;
  const std::vector<int> cycles = {4, 6, 9, 13, 19, 28, 40};
  std::vector<double> power(cycles.size());
  for (std::uint64_t i = 0; i < 12; ++i) {
    const RgbImage& image = photographer.take({256, 192, 1, i, 0});
    for (std::size_t k = 0; k < cycles.size(); ++k) power[k] += power_at(image, cycles[k]);
  }
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t k = 0; k < cycles.size(); ++k) {
    const double x = std::log(cycles[k]), y = std::log(power[k]);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  const auto n = static_cast<double>(cycles.size());
  const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  // f^-2 on average over directions, of which rows see the integral: photographs lie at -1.4 to
  // -2.4.
  EXPECT_LT(slope, -1.2);
  EXPECT_GT(slope, -2.4);
}

TEST(Photograph, UsesTheRangeAndColours) {
  Photographer photographer;
  double sum = 0, squares = 0, apart = 0;
  std::size_t count = 0;
  for (std::uint64_t i = 0; i < 16; ++i) {
    const RgbImage& image = photographer.take({160, 120, 2, i, 0});
    for (std::size_t p = 0; p < image.rgb.size(); p += 3, ++count) {
      const double green = image.rgb[p + 1];
      sum += green;
      squares += green * green;
      apart += std::abs(image.rgb[p] - green);
    }
  }
  const auto n = static_cast<double>(count);
  const double mean = sum / n;
  EXPECT_NEAR(mean, 118, 30);
  EXPECT_NEAR(std::sqrt(squares / n - mean * mean), 55, 25);
  EXPECT_NEAR(apart / n, 25, 18);
}

TEST(Photograph, TakesAnySize) {
  Photographer photographer;
  for (const auto& [width, height] :
       {std::pair{1, 1}, {1, 9}, {9, 1}, {2, 2}, {3, 700}, {1100, 5}}) {
    const RgbImage& image = photographer.take({width, height, 3, 0, 0});
    EXPECT_EQ(image.rgb.size(), static_cast<std::size_t>(width * height * 3));
  }
}

TEST(Photograph, DependsOnItsSubjectOnly) {
  Photographer fresh, used;
  used.take({300, 200, 4, 1, 2});
  EXPECT_EQ(used.take({50, 40, 4, 7, 0}).rgb, fresh.take({50, 40, 4, 7, 0}).rgb);
}

}  // namespace
}  // namespace loaderscope::dataset
