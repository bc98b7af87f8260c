#include <gtest/gtest.h>

#include <numbers>

#include "augment/operation.h"
#include "unit/augment/reference.h"

namespace loaderscope::test {
namespace {

using Matrix = std::array<double, 4>;  // row by row

Matrix times(const Matrix& a, const Matrix& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
          a[2] * b[1] + a[3] * b[3]};
}
Matrix inverse(const Matrix& m) {
  const double determinant = m[0] * m[3] - m[1] * m[2];
  return {m[3] / determinant, -m[1] / determinant, -m[2] / determinant, m[0] / determinant};
}

struct Motion {
  double degrees = 0, x = 0, y = 0, scale = 1, shear_x = 0, shear_y = 0;
};

// Scales, shears along x, along y, rotates clockwise (y points down), moves: torchvision's order.
Matrix forward(const Motion& m) {
  const auto radians = [](double degrees) { return degrees * std::numbers::pi / 180; };
  const double a = radians(m.degrees);
  const Matrix rotate = {std::cos(a), -std::sin(a), std::sin(a), std::cos(a)};
  const Matrix along_y = {1, 0, -std::tan(radians(m.shear_y)), 1},
               along_x = {1, -std::tan(radians(m.shear_x)), 0, 1};
  return times(rotate, times(along_y, times(along_x, {m.scale, 0, 0, m.scale})));
}

Plane3 warped(const Plane3& image, const Motion& motion) {
  const Matrix back = inverse(forward(motion));
  const int size = image.width;
  const auto pixel = [&](int x, int y, int c) {
    return x >= 0 && y >= 0 && x < size && y < size ? image.at(x, y, c) : 0.0;
  };
  Plane3 result(size, size);
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      const double half = size / 2.0, dx = x + 0.5 - half - motion.x,
                   dy = y + 0.5 - half - motion.y;
      const double px = back[0] * dx + back[1] * dy + half - 0.5,
                   py = back[2] * dx + back[3] * dy + half - 0.5;
      const int left = static_cast<int>(std::floor(px)), top = static_cast<int>(std::floor(py));
      const double fx = px - left, fy = py - top;
      for (int c = 0; c < 3; ++c) {
        result.at(x, y, c) =
            (1 - fy) * ((1 - fx) * pixel(left, top, c) + fx * pixel(left + 1, top, c)) +
            fy * ((1 - fx) * pixel(left, top + 1, c) + fx * pixel(left + 1, top + 1, c));
      }
    }
  }
  return result;
}

Plane3 made(const char* operation, int size, std::int64_t sample) {
  AugmentOptions options = {
      .operations = {"random-resized-crop"}, .size = size, .transfer = Transfer::u8};
  if (*operation != '\0') options.operations.push_back(operation);
  return sample_values(make_sample(options, picture(120, 110, 2), sample).bytes, options);
}

constexpr double kLevelAndPlace =
    0.75;  // half a level of rounding, and places kept to 1/65536 of a pixel

TEST(AugmentAffine, EqualsTheDefinition) {
  for (const int size : {1, 13, 64, 97}) {
    for (std::int64_t sample = 0; sample < 10; ++sample) {
      const Plane3 base = made("", size, sample);
      const augment::Draws draws{0, 0, sample, 1};
      const Motion motion{draws.uniform(0, {-30, 30}),
                          std::nearbyint(draws.uniform(1, {-0.2 * size, 0.2 * size})),
                          std::nearbyint(draws.uniform(2, {-0.3 * size, 0.3 * size})),
                          draws.uniform(3, {0.5, 2}),
                          draws.uniform(4, {-20, 20}),
                          draws.uniform(5, {5, 10})};
      const Plane3 all = made("affine:30:0.2:0.3:0.5..2:20:5..10", size, sample);
      EXPECT_LE(largest_difference(all, warped(base, motion)), kLevelAndPlace)
          << size << " " << sample;
      const Motion turned{-draws.uniform(0, {-170, 90})};
      EXPECT_LE(largest_difference(made("rotate:-170..90", size, sample), warped(base, turned)),
                kLevelAndPlace);
    }
  }
}

TEST(AugmentAffine, TurnsRotateOneWayAndAffineTheOther) {
  constexpr int kSide = 40;
  const Plane3 base = made("", kSide, 0);
  const Plane3 left = made("rotate:90..90", kSide, 0), right = made("affine:90..90", kSide, 0);
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      ASSERT_EQ(left.at(y, kSide - 1 - x, 1), base.at(x, y, 1));   // counter-clockwise
      ASSERT_EQ(right.at(kSide - 1 - y, x, 1), base.at(x, y, 1));  // clockwise
    }
  }
}

TEST(AugmentAffine, KeepsImageWithoutMotion) {
  EXPECT_EQ(made("affine:0", 33, 0).values, made("", 33, 0).values);
}

TEST(AugmentAffine, FillsOutsideWithBlack) {
  for (std::int64_t sample = 0; sample < 5; ++sample) {
    const Plane3 base = made("", 97, sample);
    const augment::Draws draws{0, 0, sample, 1};
    const Motion motion{draws.uniform(0, {-5, 5}), 0, 0, 0.01, draws.uniform(4, {-80, 80}), 0};
    const Plane3 tiny = made("affine:5:0:0:0.01..0.01:80", 97, sample);
    EXPECT_EQ(tiny.at(0, 0, 0), 0);
    EXPECT_LE(largest_difference(tiny, warped(base, motion)), 1.5);  // a step is up to 600 pixels
  }
}

}  // namespace
}  // namespace loaderscope::test
