// PNG images for tests: every colour type, depth and interlacing, with the RGB that they stand for.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <zlib.h>

#include "unit/decode/made_images.h"

namespace loaderscope::made {

struct PngWish {
  unsigned colour_type = 2;  // header value: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA
  unsigned depth = 8;
  bool interlaced = false;
};

struct MadePng {
  ByteVector stored;
  Image expected;
};

class PngWriter {
 public:
  PngWriter(const Image& source, const PngWish& wish) : source_(source), wish_(wish) {}

  MadePng make() const {
    ByteVector stored = as_bytes("\x89PNG\r\n\x1A\n", 8);
    add_chunk(stored, "IHDR", header());
    if (wish_.colour_type == 3) add_chunk(stored, "PLTE", palette());
    const std::vector<std::uint8_t> plain = passes();
    std::vector<std::uint8_t> packed(compressBound(plain.size()));
    uLongf size = packed.size();
    compress(packed.data(), &size, plain.data(), plain.size());
    for (std::size_t at = 0; at < size; at += kChunk) {
      const auto from = packed.begin() + static_cast<std::ptrdiff_t>(at);
      const auto count = static_cast<std::ptrdiff_t>(std::min(kChunk, std::size_t{size} - at));
      add_chunk(stored, "IDAT", {from, from + count});
    }
    add_chunk(stored, "IEND", {});
    return {stored, expected()};
  }

 private:
  static constexpr std::size_t kChunk = 2000;

  static void add_number(std::vector<std::uint8_t>& to, std::size_t number) {
    for (int shift = 24; shift >= 0; shift -= 8)
      to.push_back(static_cast<std::uint8_t>(number >> shift));
  }

  static void add_chunk(ByteVector& stored, std::string_view name,
                        const std::vector<std::uint8_t>& data) {
    std::vector<std::uint8_t> chunk(name.begin(), name.end());
    chunk.insert(chunk.end(), data.begin(), data.end());
    std::vector<std::uint8_t> all;
    add_number(all, data.size());
    all.insert(all.end(), chunk.begin(), chunk.end());
    add_number(all, crc32(0, chunk.data(), static_cast<uInt>(chunk.size())));
    const ByteVector bytes = as_bytes(all.data(), all.size());
    stored.insert(stored.end(), bytes.begin(), bytes.end());
  }

  std::vector<std::uint8_t> header() const {
    std::vector<std::uint8_t> data;
    add_number(data, static_cast<unsigned>(source_.width));
    add_number(data, static_cast<unsigned>(source_.height));
    for (const unsigned value :
         {wish_.depth, wish_.colour_type, 0U, 0U, wish_.interlaced ? 1U : 0U}) {
      data.push_back(static_cast<std::uint8_t>(value));
    }
    return data;
  }

  static std::array<std::uint8_t, 3> colour(unsigned index) {
    return {static_cast<std::uint8_t>(7 * index), static_cast<std::uint8_t>(255 - index),
            static_cast<std::uint8_t>(index * index)};
  }

  std::vector<std::uint8_t> palette() const {
    std::vector<std::uint8_t> data;
    for (unsigned i = 0; i < 1U << wish_.depth; ++i) {
      for (const std::uint8_t value : colour(i)) data.push_back(value);
    }
    return data;
  }

  unsigned channels() const {
    switch (wish_.colour_type) {
      case 2:
        return 3;
      case 4:
        return 2;
      case 6:
        return 4;
      default:
        return 1;
    }
  }

  unsigned sample(int x, int y, unsigned channel) const {
    const bool alpha = (wish_.colour_type & 4U) != 0 && channel + 1 == channels();
    const unsigned value = alpha ? static_cast<unsigned>(x * y) & 255U
                                 : source_.row(y)[3 * x + static_cast<int>(channel % 3)];
    return wish_.depth == 16 ? value << 8 | 0x5A : value >> (8 - wish_.depth);
  }

  // One pass of the pixels (x0 + i dx, y0 + j dy), with a filter that changes from row to row.
  void add_pass(std::vector<std::uint8_t>& plain, int x0, int y0, int dx, int dy) const {
    if (x0 >= source_.width) return;
    std::vector<std::uint8_t> above;
    for (int y = y0; y < source_.height; y += dy) {
      std::vector<std::uint8_t> row;
      unsigned bits = 0, count = 0;
      for (int x = x0; x < source_.width; x += dx) {
        for (unsigned c = 0; c < channels(); ++c) {
          bits = bits << wish_.depth | sample(x, y, c);
          for (count += wish_.depth; count >= 8; count -= 8)
            row.push_back(static_cast<std::uint8_t>(bits >> (count - 8)));
        }
      }
      if (count > 0) row.push_back(static_cast<std::uint8_t>(bits << (8 - count)));
      add_filtered(plain, row, above, y);
      above = row;
    }
  }

  void add_filtered(std::vector<std::uint8_t>& plain, const std::vector<std::uint8_t>& row,
                    const std::vector<std::uint8_t>& above, int y) const {
    const int filter = y % 3;  // 0 none, 1 left, 2 above
    const std::size_t pixel = std::max(1U, channels() * wish_.depth / 8);
    plain.push_back(static_cast<std::uint8_t>(filter));
    for (std::size_t i = 0; i < row.size(); ++i) {
      const unsigned left = i >= pixel ? row[i - pixel] : 0U;
      const unsigned up = above.empty() ? 0U : above[i];
      plain.push_back(static_cast<std::uint8_t>(row[i] - (filter == 1   ? left
                                                          : filter == 2 ? up
                                                                        : 0U)));
    }
  }

  std::vector<std::uint8_t> passes() const {
    std::vector<std::uint8_t> plain;
    if (!wish_.interlaced) {
      add_pass(plain, 0, 0, 1, 1);
      return plain;
    }
    constexpr int kAdam7[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                  {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    for (const auto& [x, y, dx, dy] : kAdam7) add_pass(plain, x, y, dx, dy);
    return plain;
  }

  Image expected() const {
    Image rgb{source_.width, source_.height, 3, {}};
    for (int y = 0; y < rgb.height; ++y) {
      for (int x = 0; x < rgb.width; ++x) {
        for (unsigned c = 0; c < 3; ++c) {
          const bool grey = (wish_.colour_type & 2U) == 0;
          const unsigned value = sample(x, y, grey || wish_.colour_type == 3 ? 0 : c);
          const unsigned highest = (1U << std::min(wish_.depth, 8U)) - 1;
          rgb.data.push_back(wish_.colour_type == 3 ? colour(value)[c]
                             : wish_.depth == 16
                                 ? static_cast<std::uint8_t>(value >> 8)
                                 : static_cast<std::uint8_t>(value * 255 / highest));
        }
      }
    }
    return rgb;
  }

  const Image& source_;
  PngWish wish_;
};

inline MadePng encode_png(const Image& source, const PngWish& wish = {}) {
  return PngWriter(source, wish).make();
}

}  // namespace loaderscope::made
