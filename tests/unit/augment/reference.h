// Pictures, and the definitions of the operations written out in double precision: nothing is
// shared with the code.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "loaderscope/augment.h"

namespace loaderscope::test {

// size x size (or any) RGB values.
struct Plane3 {
  int width = 0, height = 0;
  std::vector<double> values;  // [y][x][channel]
  Plane3(int w, int h)
      : width(w),
        height(h),
        values(static_cast<std::size_t>(3 * w) * static_cast<std::size_t>(h)) {}
  double& at(int x, int y, int c) {
    return values[static_cast<std::size_t>((y * width + x) * 3 + c)];
  }
  double at(int x, int y, int c) const {
    return values[static_cast<std::size_t>((y * width + x) * 3 + c)];
  }
};

// Noise over large shapes: every pixel differs, and neighbouring ones are alike here and far apart
// there.
inline Plane3 picture(int width, int height, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<unsigned> random(0, 255);
  Plane3 image(width, height);
  const unsigned period = 2 + random(generator) % 40;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const bool noisy = (static_cast<unsigned>(x + y) / period) % 2 == 0;
      for (int c = 0; c < 3; ++c) {
        const unsigned smooth = static_cast<unsigned>(x * (c + 1) + y * 2) / 2 % 256;
        image.at(x, y, c) = noisy ? random(generator) : smooth;
      }
    }
  }
  return image;
}

// Output of a decoder: exactly the bytes of `region`, in rows that are longer than needed.
struct Decoded {
  std::vector<std::uint8_t> bytes;
  Pixels pixels;
  Decoded(const Plane3& image, const Region& r) {
    const std::size_t row = static_cast<std::size_t>(3 * r.width), stride = row + 7;
    bytes.resize(stride * static_cast<std::size_t>(r.height - 1) + row);
    for (int y = 0; y < r.height; ++y) {
      for (int i = 0; i < 3 * r.width; ++i) {
        bytes[static_cast<std::size_t>(y) * stride + static_cast<std::size_t>(i)] =
            static_cast<std::uint8_t>(image.at(r.x + i / 3, r.y + y, i % 3));
      }
    }
    pixels = {bytes.data(), stride, r};
  }
};

struct Made {
  AugmentRecipe recipe;
  std::vector<std::byte> bytes;
};

inline Made make_sample(Augmenter& augmenter, const AugmentOptions& options, const Plane3& image,
                        std::int64_t sample = 0, std::int64_t epoch = 0) {
  Made made;
  made.recipe = augmenter.choose(epoch, sample, {image.width, image.height});
  made.bytes.resize(static_cast<std::size_t>(sample_bytes(options)));
  augmenter.apply(Decoded(image, made.recipe.region).pixels, made.recipe, made.bytes.data());
  return made;
}

inline Made make_sample(const AugmentOptions& options, const Plane3& image, std::int64_t sample = 0,
                        std::int64_t epoch = 0) {
  return make_sample(*make_augmenter(options), options, image, sample, epoch);
}

// The bits of an IEEE binary16 as the number that they stand for.
inline double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const double size =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

// The sample as numbers, whatever its layout and type.
inline Plane3 sample_values(const std::vector<std::byte>& bytes, const AugmentOptions& options) {
  Plane3 result(options.size, options.size);
  for (int y = 0; y < options.size; ++y) {
    for (int x = 0; x < options.size; ++x) {
      for (int c = 0; c < 3; ++c) {
        const int pixel = y * options.size + x, plane = options.size * options.size;
        const auto i = static_cast<std::size_t>(options.layout == Layout::nchw ? c * plane + pixel
                                                                               : 3 * pixel + c);
        float f32 = 0;
        std::uint16_t f16 = 0;
        if (options.transfer == Transfer::f32) std::memcpy(&f32, &bytes[4 * i], 4);
        if (options.transfer == Transfer::f16) std::memcpy(&f16, &bytes[2 * i], 2);
        result.at(x, y, c) = options.transfer == Transfer::u8    ? std::to_integer<int>(bytes[i])
                             : options.transfer == Transfer::f16 ? half_value(f16)
                                                                 : static_cast<double>(f32);
      }
    }
  }
  return result;
}

// The weights of all `length` pixels of a line for output i of `outputs`, after PyTorch's
// interpolate.
inline std::vector<double> weights(int length, double outputs, int i, bool antialias) {
  std::vector<double> weight(static_cast<std::size_t>(length), 0.0);
  const double scale = length / outputs;
  if (!antialias) {
    const double place = std::max(0.0, (i + 0.5) * scale - 0.5);
    const int left = std::min(static_cast<int>(place), length - 1),
              right = std::min(left + 1, length - 1);
    weight[static_cast<std::size_t>(left)] += 1 - (place - left);
    weight[static_cast<std::size_t>(right)] += place - left;
    return weight;
  }
  const double support = std::max(scale, 1.0), centre = (i + 0.5) * scale;
  double total = 0;
  for (int pixel = 0; pixel < length; ++pixel) {
    const double w = std::max(0.0, 1 - std::abs(pixel + 0.5 - centre) / support);
    weight[static_cast<std::size_t>(pixel)] = w;
    total += w;
  }
  for (double& w : weight) w /= total;
  return weight;
}

// The crop of an image resized to width x height, of which a size x size part at (left, top) is
// made.
struct Resize {
  Region crop;
  double width = 0, height = 0;
  int left = 0, top = 0;
  bool antialias = true, mirrored = false;
};
inline Plane3 resized(const Plane3& image, const Resize& r, int size) {
  Plane3 tall(size, r.crop.height), result(size, size);
  for (int i = 0; i < size; ++i) {
    const auto weight = weights(r.crop.width, r.width, r.left + i, r.antialias);
    const int to = r.mirrored ? size - 1 - i : i;
    for (int x = 0; x < r.crop.width; ++x) {
      const double w = weight[static_cast<std::size_t>(x)];
      if (w == 0) continue;
      for (int y = 0; y < r.crop.height; ++y) {
        for (int c = 0; c < 3; ++c)
          tall.at(to, y, c) += w * image.at(r.crop.x + x, r.crop.y + y, c);
      }
    }
  }
  for (int i = 0; i < size; ++i) {
    const auto weight = weights(r.crop.height, r.height, r.top + i, r.antialias);
    for (int y = 0; y < r.crop.height; ++y) {
      const double w = weight[static_cast<std::size_t>(y)];
      if (w == 0) continue;
      for (int x = 0; x < size; ++x) {
        for (int c = 0; c < 3; ++c) result.at(x, i, c) += w * tall.at(x, y, c);
      }
    }
  }
  return result;
}

inline double largest_difference(const Plane3& a, const Plane3& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    largest = std::max(largest, std::abs(a.values[i] - b.values[i]));
  }
  return largest;
}

}  // namespace loaderscope::test
