// Rotation and the affine map of torchvision's RandomRotation and RandomAffine, bilinear, black
// outside.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "augment/kernels.h"
#include "augment/operation.h"
#include "augment/warp_math.h"

namespace loaderscope::augment {
namespace {

struct Motion {
  double degrees = 0;  // clockwise
  double move_x = 0, move_y = 0;
  double scale = 1;
  double shear_x = 0, shear_y = 0;
};

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

// torchvision's _get_inverse_affine_matrix about the centre.
RecipeStep warp_step(const Motion& m) {
  const double angle = radians(m.degrees), sx = radians(m.shear_x), sy = radians(m.shear_y);
  const double cosine = std::cos(angle - sy) / std::cos(sy),
               sine = std::sin(angle - sy) / std::cos(sy);
  const double a = cosine, b = -cosine * std::tan(sx) - std::sin(angle);
  const double c = sine, d = -sine * std::tan(sx) + std::cos(angle);
  RecipeStep step{.kind = RecipeStep::Kind::warp};
  step.values = {d / m.scale, -b / m.scale, 0, -c / m.scale, a / m.scale, 0};
  auto& v = step.values;
  v[2] = -v[0] * m.move_x - v[1] * m.move_y;
  v[5] = -v[3] * m.move_x - v[4] * m.move_y;
  return step;
}

static_assert(kSegment % kPad == 0);

void make_segment(const Bordered& source, const RecipeStep& step, int x, int y,
                  std::span<std::uint32_t> out) {
  const double* const v = step.values.data();
  const WarpSegment segment = warp_segment(v, source.size, x, y, static_cast<int>(out.size()));
  if (!segment.is_far) {
    const Ray ray{to_fixed(segment.x), to_fixed(segment.y), to_fixed(v[0]), to_fixed(v[3])};
    return sample_ray(source, ray, out.size(), out.data());
  }
  // Some of it may be near: each pixel by itself, the far ones outside.
  for (std::size_t i = 0; i < out.size(); ++i) {
    const FixedPlace place = far_place(segment, v, static_cast<int>(i));
    std::array<std::uint32_t, kPad> same{};
    sample_ray(source, {place.x, place.y, 0, 0}, same.size(), same.data());
    out[i] = same[0];
  }
}

class Affine final : public ImageOperation {
 public:
  struct Ranges {
    Range degrees, scale{1, 1}, shear_x, shear_y;
    double move_x = 0, move_y = 0;  // fractions of the size
  };
  explicit Affine(const Ranges& ranges) : ranges_(ranges) {}

  std::optional<RecipeStep> draw(const Draws& draws, int size) const override {
    const auto moved = [&](std::uint32_t number, double share) {
      return std::nearbyint(draws.uniform(number, {-share * size, share * size}));
    };
    Motion motion;
    motion.degrees = draws.uniform(0, ranges_.degrees);
    motion.move_x = moved(1, ranges_.move_x);
    motion.move_y = moved(2, ranges_.move_y);
    motion.scale = draws.uniform(3, ranges_.scale);
    motion.shear_x = draws.uniform(4, ranges_.shear_x);
    motion.shear_y = draws.uniform(5, ranges_.shear_y);
    return warp_step(motion);
  }

 private:
  Ranges ranges_;
};

// torchvision's rotate turns the other way than its affine.
class Rotate final : public ImageOperation {
 public:
  explicit Rotate(Range degrees) : degrees_(degrees) {}
  std::optional<RecipeStep> draw(const Draws& draws, int) const override {
    return warp_step({.degrees = -draws.uniform(0, degrees_)});
  }

 private:
  Range degrees_;
};

constexpr Range kDegrees{-180, 180}, kShear{-80, 80}, kMove{0, 1}, kScale{0.01, 100};
constexpr std::string_view kDefaultDegrees = "15";

}  // namespace

void Warp::apply(Image& image, const RecipeStep& step) {
  const std::size_t size = static_cast<std::size_t>(image.size), stride = size + 2 * kBorder;
  bordered_.assign(stride * stride, 0);
  std::uint32_t* const origin = bordered_.data() + kBorder * stride + kBorder;
  for (int y = 0; y < image.size; ++y)
    std::copy_n(image.row(y), size, origin + static_cast<std::size_t>(y) * stride);
  const Bordered source{origin, stride, image.size};
  for (int y = 0; y < image.size; ++y) {
    for (std::size_t x = 0; x < image.stride; x += kSegment) {
      const std::size_t n = std::min<std::size_t>(kSegment, image.stride - x);
      make_segment(source, step, static_cast<int>(x), y, {image.row(y) + x, n});
    }
  }
}

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
