// Images made for the tests and benchmarks of the decoders, by the libraries' own encoders.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

namespace loaderscope::made {

using ByteVector = std::vector<std::byte>;

inline ByteVector as_bytes(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  return {bytes, bytes + size};
}

// `channels` interleaved 8-bit channels without padding.
struct Image {
  int width = 0, height = 0;
  int channels = 3;
  std::vector<std::uint8_t> data;

  std::size_t stride() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels);
  }
  const std::uint8_t* row(int y) const {
    return data.data() + static_cast<std::size_t>(y) * stride();
  }
  std::uint8_t* row(int y) { return data.data() + static_cast<std::size_t>(y) * stride(); }
};

// Noise of all sizes, large waves strongest, and some sharp edges: compresses about as a photograph
// does. `detail` scales what is small.
inline Image photograph(int width, int height, unsigned seed, double detail = 1.0,
                        int channels = 3) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  struct Wave {
    double x, y, phase, strength;
  };
  std::vector<std::vector<Wave>> waves(static_cast<std::size_t>(channels));
  for (auto& channel_waves : waves) {
    for (double length = 256; length >= 4; length /= 1.6) {
      const double angle = 6.283 * unit(random);
      channel_waves.push_back({6.283 / length * std::cos(angle), 6.283 / length * std::sin(angle),
                               6.283 * unit(random), 0.25 * length / (1.0 + 0.02 * length)});
    }
  }
  Image image{width, height, channels, {}};
  image.data.resize(image.stride() * static_cast<std::size_t>(height));
  std::normal_distribution<double> grain(0.0, 5.0 * detail);
  for (int y = 0; y < height; ++y) {
    std::uint8_t* row = image.row(y);
    for (int x = 0; x < width; ++x) {
      const bool edge = ((x / 37) ^ (y / 29)) % 3 == 0;
      const double light = grain(random) + (edge ? 24.0 * detail : 0.0);
      for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
        double value = 120.0 + light;
        for (const Wave& wave : waves[c]) {
          value += wave.strength * std::sin(wave.x * x + wave.y * y + wave.phase);
        }
        *row++ = static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
      }
    }
  }
  return image;
}

inline ByteVector encode_raw(const Image& image) {
  ByteVector stored = as_bytes("LSRAW1\0\0", 8);
  for (const int side : {image.width, image.height}) {
    for (int shift = 0; shift < 32; shift += 8)
      stored.push_back(static_cast<std::byte>(side >> shift));
  }
  const ByteVector pixels = as_bytes(image.data.data(), image.data.size());
  stored.insert(stored.end(), pixels.begin(), pixels.end());
  return stored;
}

}  // namespace loaderscope::made
