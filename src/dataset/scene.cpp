#include "dataset/scene.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace loaderscope::dataset {
namespace {

// Outlines that a scene is painted with. An ellipse or a rectangle of any direction around (0, 0),
// row by row.
class Shape {
 public:
  struct Span {
    double begin, end;
  };

  Shape(double radius, Random& random) : rectangle_(random.chance(0.35)) {
    const double stretch = 1 + 1.5 * random.uniform() * random.uniform();
    a_ = radius * stretch;
    b_ = radius / stretch;
    std::tie(cos_, sin_) = random.direction();
    const double aa = 1 / (a_ * a_), bb = 1 / (b_ * b_);
    xx_ = cos_ * cos_ * aa + sin_ * sin_ * bb;
    xy_ = cos_ * sin_ * (aa - bb);
    yy_ = sin_ * sin_ * aa + cos_ * cos_ * bb;
  }

  double half_height() const {
    if (rectangle_) return std::abs(sin_) * a_ + std::abs(cos_) * b_;
    return std::sqrt(xx_ / (xx_ * yy_ - xy_ * xy_));
  }

  Span row(double y) const {
    if (rectangle_) {
      const Span along = strip(cos_, sin_ * y, a_), across = strip(-sin_, cos_ * y, b_);
      return {std::max(along.begin, across.begin), std::min(along.end, across.end)};
    }
    const double inside = (xy_ * xy_ - xx_ * yy_) * y * y + xx_;
    if (inside <= 0) return {0, -1};
    const double half = std::sqrt(inside) / xx_, middle = -xy_ * y / xx_;
    return {middle - half, middle + half};
  }

 private:
  // Returns the range with |slope x + shift| <= half_width.
  static Span strip(double slope, double shift, double half_width) {
    if (std::abs(slope) < 1e-6) {
      return std::abs(shift) <= half_width ? Span{-1e6, 1e6} : Span{0, -1};
    }
    const double one = (-half_width - shift) / slope, other = (half_width - shift) / slope;
    return {std::min(one, other), std::max(one, other)};
  }

  bool rectangle_;
  double a_ = 0, b_ = 0, cos_ = 1, sin_ = 0;
  double xx_ = 0, xy_ = 0, yy_ = 0;
};

constexpr double kLevel = 32;  // units per level of colour
constexpr double kSlopeUnit = 65536;
constexpr double kGainUnit = 512;
constexpr double kSmallestRadius = 2;
constexpr std::size_t kMaxSurfaces = 60'000;  // labels are 16 bits wide

struct Look {
  double busyness;
  double contrast;  // contrast of this image
  double saturation;
};

double clamped(double x, double low, double high) { return std::min(std::max(x, low), high); }

std::int16_t gain(double levels) {
  return static_cast<std::int16_t>(clamped(levels, -60, 60) * kGainUnit);
}

void cover_with_texture(Surface& surface, const Look& look, Random& random) {
  const double rough = surface.roughness;
  const double levels = (2.0 + 17.5 * rough * rough * random.between(0.5, 1.5)) * look.contrast;
  const int softness = rough > 0.65 ? 0 : rough > 0.4 ? 1 : rough > 0.2 ? 2 : 3;
  surface.sheet = std::clamp(softness + random.below(3) - 1, 0, kSurfaces - 1);
  surface.gain[0] = gain(levels);
  surface.gain[1] = gain(levels * 0.16 * look.saturation * random.normal());
  surface.gain[2] = gain(levels * 0.16 * look.saturation * random.normal());
  surface.offset_x = random.below(TextureSheet::kSide);
  surface.offset_y = random.below(TextureSheet::kSide);
}

void shade(Surface& surface, double radius, const Look& look, Random& random) {
  const double drop = 18 * look.contrast / radius;  // levels per pixel
  surface.slope_x = static_cast<std::int32_t>(drop * random.normal() * kSlopeUnit);
  surface.slope_y = static_cast<std::int32_t>(drop * random.normal() * kSlopeUnit);
}

std::int32_t moved(std::int32_t from, double levels, double low, double high) {
  return static_cast<std::int32_t>(clamped(from + levels * kLevel, low * kLevel, high * kLevel));
}

Surface backdrop(int width, int height, const Look& look, Random& random) {
  Surface surface;
  surface.x = width / 2;
  surface.y = height / 2;
  surface.colour[0] = moved(0, 118 + 35 * random.normal(), 20, 235);
  for (int c = 1; c < 3; ++c) {
    surface.colour[c] = moved(0, 12 * look.saturation * random.normal(), -50, 50);
  }
  surface.roughness = clamped(0.42 + 0.07 * look.busyness + 0.1 * random.normal(), 0, 1);
  shade(surface, std::max(width, height), look, random);
  cover_with_texture(surface, look, random);
  return surface;
}

// A thing on top of `parent`: alike in colour and roughness, the more so the smaller it is.
Surface thing_on(const Surface& parent, double radius, double relative_size, const Look& look,
                 Random& random) {
  Surface surface = parent;
  const double step = 14 + 28 * relative_size;
  surface.colour[0] = moved(parent.colour[0], step * look.contrast * random.normal(), 4, 250);
  for (int c = 1; c < 3; ++c) {
    const double levels = (3 + 12 * relative_size) * look.saturation * random.normal();
    surface.colour[c] = moved(parent.colour[c], levels, -60, 60);
  }
  const double change = 0.08 + 0.35 * relative_size;
  const double pulled =
      parent.roughness + (0.42 + 0.07 * look.busyness - parent.roughness) * relative_size;
  surface.roughness = clamped(pulled + change * random.normal(), 0, 1);
  shade(surface, radius, look, random);
  cover_with_texture(surface, look, random);
  return surface;
}

void paint(Scene& scene, const Shape& shape, int x, int y, std::uint16_t label) {
  const int half = static_cast<int>(shape.half_height());
  const int first = std::max(y - half, 0), last = std::min(y + half, scene.height - 1);
  for (int row = first; row <= last; ++row) {
    const Shape::Span span = shape.row(row - y);
    const int begin = static_cast<int>(clamped(x + span.begin + 0.5, 0, scene.width));
    const int end = static_cast<int>(clamped(x + span.end + 0.5, 0, scene.width));
    if (begin >= end) continue;
    const auto start = scene.labels.begin() + static_cast<std::ptrdiff_t>(row) * scene.width;
    std::fill(start + begin, start + end, label);
  }
}

// `coverage` is the area painted by one octave of sizes, radius to twice the radius, over that of
// the image.
void paint_octave(Scene& scene, double radius, double largest, double coverage, const Look& look,
                  Random& random) {
  const double area = static_cast<double>(scene.width) * scene.height;
  const auto count =
      static_cast<std::int64_t>(coverage * area / (3.14 * 2 * radius * radius) + random.uniform());
  const double relative = radius / largest;
  for (std::int64_t i = 0; i < count && scene.surfaces.size() < kMaxSurfaces; ++i) {
    const int x = random.below(scene.width), y = random.below(scene.height);
    const double size = radius * (1 + random.uniform());
    const Surface& parent = scene.surfaces[scene.label(x, y)];
    // Places large things anywhere, and small ones on rough surfaces.
    const double welcome = 0.12 + parent.roughness * parent.roughness * 1.4;
    if (!random.chance(relative + (1 - relative) * welcome)) continue;
    Surface surface = thing_on(parent, size, relative, look, random);
    surface.x = x;
    surface.y = y;
    scene.surfaces.push_back(surface);
    paint(scene, Shape(size, random), x, y, static_cast<std::uint16_t>(scene.surfaces.size() - 1));
  }
}

}  // namespace

void compose(Scene& scene, int width, int height, double busyness, Random& random) {
  scene.width = width;
  scene.height = height;
  scene.surfaces.clear();
  scene.labels.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0);
  const Look look{busyness, clamped(1 + 0.15 * random.normal() + 0.1 * busyness, 0.3, 2),
                  clamped(1 + 0.35 * random.normal(), 0.1, 2)};
  scene.surfaces.push_back(backdrop(width, height, look, random));
  const double largest = std::max(std::min(width, height) / 2.5, kSmallestRadius);
  for (double radius = largest; radius >= kSmallestRadius / 1.5; radius /= 2) {
    paint_octave(scene, radius, largest, 0.55, look, random);
  }
}

namespace {

using Field = std::vector<float>;  // a periodic square

std::size_t at(int x, int y, int side) {
  return static_cast<std::size_t>((y & (side - 1)) * side + (x & (side - 1)));
}

// Twice the side, interpolated linearly between the centres of the coarse pixels.
Field doubled(const Field& coarse, int side) {
  const int fine_side = 2 * side;
  Field fine(static_cast<std::size_t>(fine_side) * static_cast<std::size_t>(fine_side));
  for (int y = 0; y < fine_side; ++y) {
    const int y0 = y / 2, y1 = y % 2 == 0 ? y0 - 1 : y0 + 1;
    for (int x = 0; x < fine_side; ++x) {
      const int x0 = x / 2, x1 = x % 2 == 0 ? x0 - 1 : x0 + 1;
      fine[at(x, y, fine_side)] = (9 * coarse[at(x0, y0, side)] + 3 * coarse[at(x1, y0, side)] +
                                   3 * coarse[at(x0, y1, side)] + coarse[at(x1, y1, side)]) /
                                  16;
    }
  }
  return fine;
}

void add_noise(Field& field, double amplitude, Random& random) {
  for (float& value : field) value += static_cast<float>(amplitude * random.normal());
}

// Coarse to fine: every octave gets noise of its own. One octave of equal strength each is a slope
// of 2.
Field octaves(double roll_off, Random& random) {
  constexpr int kCoarsest = 8;
  Field field(kCoarsest * kCoarsest);
  double amplitude = 1;
  add_noise(field, amplitude, random);
  for (int side = kCoarsest; side < TextureSheet::kSide; side *= 2) {
    field = doubled(field, side);
    amplitude *= roll_off;
    add_noise(field, amplitude, random);
  }
  return field;
}

}  // namespace

TextureSheet::TextureSheet(double roll_off, std::uint64_t stream) {
  Random random(0x7465787475726573, stream);
  const Field field = octaves(roll_off, random);
  double sum = 0, squares = 0;
  for (const float value : field) sum += value;
  const double mean = sum / static_cast<double>(field.size());
  for (const float value : field) squares += (value - mean) * (value - mean);
  const double scale = kSigma / std::sqrt(squares / static_cast<double>(field.size()));
  values_.reserve(2 * field.size());
  for (std::size_t i = 0; i < 2 * field.size(); ++i) {
    const std::size_t row = i / (2 * kSide), column = i % kSide;
    const double value = (field[row * kSide + column] - mean) * scale;
    values_.push_back(static_cast<std::int16_t>(std::clamp(value, -32767.0, 32767.0)));
  }
}

const TextureSheets& texture_sheets() {
  static const TextureSheets sheets{
      {TextureSheet(1.6, 1), TextureSheet(1.15, 2), TextureSheet(0.85, 3), TextureSheet(0.6, 4)},
      TextureSheet(8, 5)};
  return sheets;
}

}  // namespace loaderscope::dataset
