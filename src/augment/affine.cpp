// Rotation and the affine map of torchvision's RandomRotation and RandomAffine, bilinear, black
// outside.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "augment/kernels.h"
#include "augment/operation.h"

namespace loaderscope::augment {
namespace {

struct Motion {
  double degrees = 0;  // clockwise
  double move_x = 0, move_y = 0;
  double scale = 1;
  double shear_x = 0, shear_y = 0;
};

// From a place in the result, relative to the centre, to the place in the source: (xx x + xy y +
// x0, ...).
struct Map {
  double xx, xy, x0, yx, yy, y0;
};

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

// torchvision's _get_inverse_affine_matrix about the centre.
Map inverse_map(const Motion& m) {
  const double angle = radians(m.degrees), sx = radians(m.shear_x), sy = radians(m.shear_y);
  const double cosine = std::cos(angle - sy) / std::cos(sy),
               sine = std::sin(angle - sy) / std::cos(sy);
  const double a = cosine, b = -cosine * std::tan(sx) - std::sin(angle);
  const double c = sine, d = -sine * std::tan(sx) + std::cos(angle);
  Map map{d / m.scale, -b / m.scale, 0, -c / m.scale, a / m.scale, 0};
  map.x0 = -map.xx * m.move_x - map.xy * m.move_y;
  map.y0 = -map.yx * m.move_x - map.yy * m.move_y;
  return map;
}

// A copy of the image that can be read beyond its edges.
class Border {
 public:
  Bordered copy(const Image& image) {
    const std::size_t size = static_cast<std::size_t>(image.size), stride = size + 2 * kBorder;
    pixels_.assign(stride * stride, 0);
    std::uint32_t* origin = pixels_.data() + kBorder * stride + kBorder;
    for (int y = 0; y < image.size; ++y) {
      std::copy_n(image.row(y), size, origin + static_cast<std::size_t>(y) * stride);
    }
    return {origin, stride, image.size};
  }

 private:
  std::vector<std::uint32_t> pixels_;
};

constexpr double kFarthest = 32000;  // pixels; beyond it 16 + 16 bits do not hold a place
constexpr int kSegment = 2 * kPad;   // outputs whose places are counted up from one exact place

std::int32_t fixed_pixels(double pixels) {
  return static_cast<std::int32_t>(std::lround(pixels * 65536));
}

class Warp {
 public:
  void apply(Image& image, const Motion& motion) {
    const Bordered source = border_.copy(image);
    const Map map = inverse_map(motion);
    for (int y = 0; y < image.size; ++y) {
      for (std::size_t x = 0; x < image.stride; x += kSegment) {
        const std::size_t n = std::min<std::size_t>(kSegment, image.stride - x);
        make_segment(source, map, static_cast<double>(x), y, {image.row(y) + x, n});
      }
    }
  }

 private:
  static void make_segment(const Bordered& source, const Map& map, double x, int y,
                           std::span<std::uint32_t> out) {
    const double centre = source.size / 2.0, dx = x + 0.5 - centre, dy = y + 0.5 - centre;
    const double from_x = map.xx * dx + map.xy * dy + map.x0 + centre - 0.5;
    const double from_y = map.yx * dx + map.yy * dy + map.y0 + centre - 0.5;
    const double length = static_cast<double>(out.size());
    const auto farthest = [&](double from, double step) {
      return std::max(std::abs(from), std::abs(from + step * length));
    };
    if (std::max(farthest(from_x, map.xx), farthest(from_y, map.yx)) < kFarthest) {
      const Ray ray{fixed_pixels(from_x), fixed_pixels(from_y), fixed_pixels(map.xx),
                    fixed_pixels(map.yx)};
      return sample_ray(source, ray, out.size(), out.data());
    }
    // Some of it may be near: each pixel by itself, the far ones outside.
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto place = [i](double from, double step) {
        return fixed_pixels(
            std::clamp(from + step * static_cast<double>(i), -kFarthest, kFarthest));
      };
      std::array<std::uint32_t, kPad> same{};
      const Ray ray{place(from_x, map.xx), place(from_y, map.yx), 0, 0};
      sample_ray(source, ray, same.size(), same.data());
      out[i] = same[0];
    }
  }

  Border border_;
};

class Affine final : public ImageOperation {
 public:
  struct Ranges {
    Range degrees, scale{1, 1}, shear_x, shear_y;
    double move_x = 0, move_y = 0;  // fractions of the size
  };
  explicit Affine(const Ranges& ranges) : ranges_(ranges) {}

  void apply(Image& image, const Draws& draws) override {
    const auto moved = [&](std::uint32_t number, double share) {
      return std::nearbyint(draws.uniform(number, {-share * image.size, share * image.size}));
    };
    Motion motion;
    motion.degrees = draws.uniform(0, ranges_.degrees);
    motion.move_x = moved(1, ranges_.move_x);
    motion.move_y = moved(2, ranges_.move_y);
    motion.scale = draws.uniform(3, ranges_.scale);
    motion.shear_x = draws.uniform(4, ranges_.shear_x);
    motion.shear_y = draws.uniform(5, ranges_.shear_y);
    warp_.apply(image, motion);
  }

 private:
  Ranges ranges_;
  Warp warp_;
};

// torchvision's rotate turns the other way than its affine.
class Rotate final : public ImageOperation {
 public:
  explicit Rotate(Range degrees) : degrees_(degrees) {}
  void apply(Image& image, const Draws& draws) override {
    warp_.apply(image, {.degrees = -draws.uniform(0, degrees_)});
  }

 private:
  Range degrees_;
  Warp warp_;
};

constexpr Range kDegrees{-180, 180}, kShear{-80, 80}, kMove{0, 1}, kScale{0.01, 100};
constexpr std::string_view kDefaultDegrees = "15";

}  // namespace

Operation make_rotate(std::string_view parameters, int) {
  const auto given = split_parameters(parameters, 1);
  return std::make_unique<Rotate>(
      parse_spread(given.empty() ? kDefaultDegrees : given[0], "the angle", 0, kDegrees));
}

Operation make_affine(std::string_view parameters, int) {
  const auto given = split_parameters(parameters, 6);
  Affine::Ranges ranges;
  ranges.degrees =
      parse_spread(given.empty() ? kDefaultDegrees : given[0], "the angle", 0, kDegrees);
  if (given.size() > 1) ranges.move_x = parse_number(given[1], "the horizontal move", kMove);
  if (given.size() > 2) ranges.move_y = parse_number(given[2], "the vertical move", kMove);
  if (given.size() > 3) ranges.scale = parse_range(given[3], "the scale", kScale);
  if (given.size() > 4) ranges.shear_x = parse_spread(given[4], "the horizontal shear", 0, kShear);
  if (given.size() > 5) ranges.shear_y = parse_spread(given[5], "the vertical shear", 0, kShear);
  return std::make_unique<Affine>(ranges);
}

}  // namespace loaderscope::augment
