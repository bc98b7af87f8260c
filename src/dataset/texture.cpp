#include "dataset/texture.h"

#include <algorithm>
#include <cmath>

#include "dataset/random.h"

namespace loaderscope::dataset {
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
