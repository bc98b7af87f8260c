// From a scene to pixels, row by row: surfaces, the lens, the grain of the sensor, RGB.
#include "dataset/photograph.h"

#include <algorithm>
#include <array>
#include <vector>

#include "dataset/scene.h"

namespace loaderscope::dataset {
namespace {

using Value = std::int16_t;  // 1/32 level
using Row = std::vector<Value>;
using Planes = std::array<Row, 3>;  // Y, Cb, Cr

struct Camera {
  int blur;                  // weight of a neighbour over 64; 16 is the binomial filter
  std::array<int, 3> grain;  // grain of Y, Cb and Cr, in 1/512 level of standard deviation
  int grain_x, grain_y;
};

// `count` <= TextureSheet::kSide.
void shade_run(const Surface& surface, int x, int y, int count, const std::array<Value*, 3>& out) {
  constexpr int kSide = TextureSheet::kSide;
  const Value* texture =
      texture_sheets().surfaces[static_cast<std::size_t>(surface.sheet)].row(y + surface.offset_y) +
      ((x + surface.offset_x) & (kSide - 1));
  constexpr std::int32_t kFarthest = 110 * 65536;  // a slope ends somewhere
  const std::int64_t start = std::int64_t{surface.slope_x} * (x - surface.x) +
                             std::int64_t{surface.slope_y} * (y - surface.y);
  const auto light =
      static_cast<std::int32_t>(std::clamp<std::int64_t>(start, -kFarthest, kFarthest));
  for (int i = 0; i < count; ++i) {
    const std::int32_t lit = (light + surface.slope_x * i) >> 11;
    out[0][i] =
        static_cast<Value>(surface.colour[0] + lit + ((surface.gain[0] * texture[i]) >> 16));
  }
  for (std::size_t c = 1; c < 3; ++c) {
    for (int i = 0; i < count; ++i) {
      out[c][i] = static_cast<Value>(surface.colour[c] + ((surface.gain[c] * texture[i]) >> 16));
    }
  }
}

void shade_row(const Scene& scene, int y, Planes& planes) {
  const std::uint16_t* labels =
      scene.labels.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(scene.width);
  for (int x = 0; x < scene.width;) {
    const std::uint16_t label = labels[x];
    const int limit = std::min(scene.width, x + TextureSheet::kSide);
    int end = x + 1;
    while (end < limit && labels[end] == label) ++end;
    shade_run(scene.surfaces[label], x, y, end - x,
              {planes[0].data() + x, planes[1].data() + x, planes[2].data() + x});
    x = end;
  }
}

// out = (neighbours of `input` to the left and right with weight, itself with the rest), edges
// repeated.
void blur_along(const Row& input, int weight, Row& out) {
  const std::size_t n = input.size();
  const auto mean = [weight](int left, int here, int right) {
    return static_cast<Value>(((left + right) * weight + here * (64 - 2 * weight)) >> 6);
  };
  out.front() = mean(input[0], input[0], input[std::min<std::size_t>(1, n - 1)]);
  for (std::size_t i = 1; i + 1 < n; ++i) out[i] = mean(input[i - 1], input[i], input[i + 1]);
  if (n > 1) out.back() = mean(input[n - 2], input[n - 1], input[n - 1]);
}

void blur_across(const Row& above, const Row& here, const Row& below, int weight, Row& out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] =
        static_cast<Value>(((above[i] + below[i]) * weight + here[i] * (64 - 2 * weight)) >> 6);
  }
}

// Each plane takes its grain from another part of the sheet.
void add_grain(const Camera& camera, int y, Planes& planes) {
  constexpr int kSide = TextureSheet::kSide;
  for (std::size_t c = 0; c < 3; ++c) {
    const int first_row = camera.grain_y + static_cast<int>(c) * (kSide / 3);
    const Value* noise = texture_sheets().grain.row(y + first_row) + camera.grain_x;
    for (std::size_t begin = 0; begin < planes[c].size(); begin += kSide) {
      const std::size_t count = std::min<std::size_t>(kSide, planes[c].size() - begin);
      Value* const out = planes[c].data() + begin;
      for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<Value>(out[i] + ((camera.grain[c] * noise[i]) >> 16));
      }
    }
  }
}

std::uint8_t level(int value) { return static_cast<std::uint8_t>(std::clamp(value >> 5, 0, 255)); }

void to_rgb(const Planes& planes, std::uint8_t* out) {
  for (std::size_t i = 0; i < planes[0].size(); ++i) {
    const int y = planes[0][i] + 16, cb = planes[1][i], cr = planes[2][i];
    out[3 * i] = level(y + ((cr * 359) >> 8));
    out[3 * i + 1] = level(y - ((cb * 88 + cr * 183) >> 8));
    out[3 * i + 2] = level(y + ((cb * 454) >> 8));
  }
}

Planes blank(int width) {
  const Row row(static_cast<std::size_t>(width));
  return {row, row, row};
}

// The lens needs a row's neighbours: three rows, blurred along, are held.
void develop(const Scene& scene, const Camera& camera, RgbImage& image) {
  constexpr int kChromaBlur = 16;
  Planes shaded = blank(scene.width), seen = blank(scene.width);
  std::array<Planes, 3> held = {shaded, shaded, shaded};
  const auto held_row = [&](int y) -> Planes& {
    return held[static_cast<std::size_t>(std::clamp(y, 0, scene.height - 1) % 3)];
  };
  const auto plane_blur = [&](std::size_t plane) { return plane == 0 ? camera.blur : kChromaBlur; };
  for (int y = 0; y <= scene.height; ++y) {
    if (y < scene.height) {
      shade_row(scene, y, shaded);
      for (std::size_t c = 0; c < 3; ++c) blur_along(shaded[c], plane_blur(c), held_row(y)[c]);
    }
    if (y == 0) continue;
    for (std::size_t c = 0; c < 3; ++c) {
      blur_across(held_row(y - 2)[c], held_row(y - 1)[c], held_row(y)[c], plane_blur(c), seen[c]);
    }
    add_grain(camera, y - 1, seen);
    to_rgb(seen, image.row(y - 1));
  }
}

}  // namespace

const RgbImage& Photographer::take(const Subject& subject) {
  Random random(subject.seed, subject.index);
  compose(scene_, subject.width, subject.height, subject.busyness, random);
  Camera camera{};
  camera.blur = 5 + random.below(9);
  const double grain = 512 * random.between(0.3, 1.15);
  camera.grain = {static_cast<int>(grain), static_cast<int>(1.3 * grain),
                  static_cast<int>(1.3 * grain)};
  camera.grain_x = random.below(TextureSheet::kSide);
  camera.grain_y = random.below(TextureSheet::kSide);
  image_.width = subject.width;
  image_.height = subject.height;
  image_.rgb.resize(image_.stride() * static_cast<std::size_t>(subject.height));
  develop(scene_, camera, image_);
  return image_;
}

}  // namespace loaderscope::dataset
