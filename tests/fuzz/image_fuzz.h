// Shared code of the fuzz targets of the image formats.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "loaderscope/decode.h"

namespace loaderscope {

struct Decoded {
  Region region;
  int scale_denominator = 1;
  std::vector<std::uint8_t> data;
};

// The part (x, y, width, height) / 256 of the image.
inline Region scale_region(const ImageHeader& header, std::span<const std::uint8_t, 4> part) {
  const auto scaled = [](int side, int share) {
    return static_cast<int>(std::int64_t{side} * share / 256);
  };
  Region region;
  region.x = scaled(header.width, part[0]);
  region.y = scaled(header.height, part[1]);
  region.width = 1 + scaled(header.width - region.x - 1, part[2] + 1);
  region.height = 1 + scaled(header.height - region.y - 1, part[3] + 1);
  return region;
}

inline std::optional<Decoded> decode_part(Decoder& decoder, std::span<const std::byte> stored,
                                          std::span<const std::uint8_t, 4> part) {
  try {
    const Pixels pixels = decoder.decode(scale_region(decoder.open(stored), part));
    Decoded decoded{pixels.region, pixels.scale_denominator, {}};
    for (int y = 0; y < pixels.region.height; ++y) {
      const std::uint8_t* row = pixels.data + static_cast<std::size_t>(y) * pixels.stride;
      decoded.data.insert(decoded.data.end(), row, row + pixels.region.width * 3);
    }
    return decoded;
  } catch (const SampleError&) {
    return std::nullopt;
  }
}

// Ends the program where `part` is not what `whole` has there.
inline void check_same(const Decoded& whole, const std::optional<Decoded>& part) {
  const auto fail = [](const char* why) {
    std::fprintf(stderr, "%s\n", why);
    std::abort();
  };
  if (!part) fail("a part of an image that is good as a whole cannot be decoded");
  const Region& region = part->region;
  const auto bytes = static_cast<std::size_t>(region.width) * 3;
  for (int y = 0; y < region.height; ++y) {
    const int at = ((region.y + y) * whole.region.width + region.x) * 3;
    const std::uint8_t* expected = whole.data.data() + at;
    if (std::memcmp(expected, part->data.data() + static_cast<std::size_t>(y) * bytes, bytes) !=
        0) {
      fail("a part of an image differs from the same part of the whole");
    }
  }
}

// The last five bytes choose a region and options. Decoders ignore bytes after the end of an image.
// If the whole image can be decoded, its parts must have the same pixels.
inline void fuzz_image(std::string_view format, const std::uint8_t* data, std::size_t size) {
  if (size < 5) return;
  DecodeOptions options;
  options.largest_pixels = 1 << 16;
  options.fast_upsampling = (data[size - 1] & 1U) != 0;
  options.dct_scale_auto = (data[size - 1] & 2U) != 0;
  options.wanted = 1;
  const std::span<const std::byte> stored(reinterpret_cast<const std::byte*>(data), size);
  for (const DecoderRow& row : decoder_table()) {
    if (row.row.name != format || row.row.reason_not_available()) continue;
    const auto decoder = row.make(options);
    const auto whole = decode_part(*decoder, stored, std::to_array<std::uint8_t>({0, 0, 255, 255}));
    const auto part =
        decode_part(*decoder, stored, std::span<const std::uint8_t, 4>(data + size - 5, 4));
    if (whole && (!part || part->scale_denominator == whole->scale_denominator))
      check_same(*whole, part);
  }
}

}  // namespace loaderscope
