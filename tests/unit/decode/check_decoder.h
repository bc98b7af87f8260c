// Checks that the tests of all decoders share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <string>

#include "loaderscope/decode.h"
#include "unit/decode/made_images.h"

namespace loaderscope::made {

// Succeeds if the pixels equal their region in `whole`, an image of the pixels' scale.
inline ::testing::AssertionResult equals_region(const Image& whole, const Pixels& pixels) {
  const Region& region = pixels.region;
  const auto width = static_cast<std::size_t>(region.width) * 3;
  for (int y = 0; y < region.height; ++y) {
    const std::uint8_t* is = pixels.data + static_cast<std::size_t>(y) * pixels.stride;
    const std::uint8_t* expected = whole.row(region.y + y) + static_cast<std::size_t>(region.x) * 3;
    const std::size_t x =
        static_cast<std::size_t>(std::mismatch(is, is + width, expected).first - is);
    if (x == width) continue;
    return ::testing::AssertionFailure()
           << "image " << whole.width << " x " << whole.height << ", region " << region.width
           << " x " << region.height << " at " << region.x << ", " << region.y << ": row " << y
           << ", pixel " << x / 3 << ", channel " << x % 3;
  }
  return ::testing::AssertionSuccess();
}

inline Region random_region(std::mt19937& random, int width, int height) {
  const auto below = [&](int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
  };
  Region region;
  region.x = below(width);
  region.y = below(height);
  region.width = 1 + below(width - region.x);
  region.height = 1 + below(height - region.y);
  return region;
}

inline ::testing::AssertionResult regions_are_exact(Decoder& decoder, const ByteVector& stored,
                                                    const Image& whole, int count) {
  std::mt19937 random(7);
  for (int i = 0; i < count; ++i) {
    const ImageHeader header = decoder.open(stored);
    if (header.width != whole.width || header.height != whole.height) {
      return ::testing::AssertionFailure() << "wrong size";
    }
    const Region wanted = i == 0 ? Region{0, 0, header.width, header.height}
                                 : random_region(random, header.width, header.height);
    const Pixels pixels = decoder.decode(wanted);
    const Region& is = pixels.region;
    if (is.x != wanted.x || is.y != wanted.y || is.width != wanted.width ||
        is.height != wanted.height) {
      return ::testing::AssertionFailure() << "wrong region";
    }
    if (const auto same = equals_region(whole, pixels); !same) return same;
  }
  return ::testing::AssertionSuccess();
}

struct Outcome {
  std::optional<SampleError::Kind> error;  // empty if the image was decoded
  std::string message;
};

// Decodes all of it.
inline Outcome decode_outcome(Decoder& decoder, const ByteVector& stored) {
  try {
    const ImageHeader header = decoder.open(stored);
    decoder.decode({0, 0, header.width, header.height});
    return {};
  } catch (const SampleError& error) {
    return {error.kind, error.what()};
  }
}

inline ByteVector first(const ByteVector& stored, std::size_t count) {
  return {stored.begin(),
          stored.begin() + static_cast<std::ptrdiff_t>(std::min(count, stored.size()))};
}

// Every cut is said to be one, or does not matter; and leaves a decoder that works.
inline void check_cuts(Decoder& decoder, const ByteVector& stored, const Image& whole) {
  for (std::size_t length = 0; length < stored.size(); length += 64) {
    const ByteVector cut = first(stored, length);
    try {
      const ImageHeader header = decoder.open(cut);
      ASSERT_TRUE(equals_region(whole, decoder.decode({0, 0, header.width, header.height})))
          << length;
      EXPECT_GT(length + 64, stored.size()) << "decoded from too few bytes";
    } catch (const SampleError& error) {
      EXPECT_EQ(error.kind, SampleError::Kind::truncated) << length << ": " << error.what();
    }
    if (length % 512 == 0) {
      ASSERT_TRUE(regions_are_exact(decoder, stored, whole, 1)) << "after a cut at " << length;
    }
  }
}

}  // namespace loaderscope::made
