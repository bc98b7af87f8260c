#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decode/decoders.h"
#include "unit/decode/check_decoder.h"
#include "unit/decode/good_images.h"
#include "unit/decode/made_png.h"

namespace loaderscope {
namespace {

using Kind = SampleError::Kind;
using made::ByteVector;
using made::PngWish;
using ::testing::HasSubstr;

const bool kPngIsAdded = made::add_good_image(
    "png", [] { return made::encode_png(made::photograph(61, 43, 1)).stored; });

std::unique_ptr<Decoder> png_decoder(const DecodeOptions& options = {}) {
  return make_png_decoder(options);
}

struct TypeAndDepths {
  unsigned colour_type;
  std::vector<unsigned> depths;
};

TEST(PngDecoder, DecodesEveryTypeAndDepthToRgb) {
  const TypeAndDepths all[] = {
      {0, {1, 2, 4, 8, 16}}, {2, {8, 16}}, {3, {1, 2, 4, 8}}, {4, {8, 16}}, {6, {8, 16}}};
  const auto png = png_decoder();
  for (const auto& [colour_type, depths] : all) {
    for (const unsigned depth : depths) {
      for (const bool interlaced : {false, true}) {
        for (const int width : {61, 3}) {
          const auto source = made::photograph(width, 43, 1);
          const auto [stored, expected] =
              made::encode_png(source, {colour_type, depth, interlaced});
          EXPECT_TRUE(made::regions_are_exact(*png, stored, expected, 12))
              << colour_type << " of " << depth << " bits" << (interlaced ? ", interlaced" : "");
        }
      }
    }
  }
}

TEST(PngDecoder, ReportsEveryCut) {
  for (const bool interlaced : {false, true}) {
    const auto [stored, expected] =
        made::encode_png(made::photograph(61, 43, 1), {.interlaced = interlaced});
    const auto png = png_decoder();
    made::check_cuts(*png, stored, expected);
  }
}

TEST(PngDecoder, IgnoresCutBelowRegion) {
  const auto [stored, expected] = made::encode_png(made::photograph(61, 200, 1));
  const auto png = png_decoder();
  const ByteVector cut = made::first(stored, stored.size() * 3 / 4);
  png->open(cut);
  EXPECT_TRUE(made::equals_region(expected, png->decode({3, 3, 50, 20})));
  const auto [error, message] = made::decode_outcome(*png, cut);
  EXPECT_EQ(error, Kind::truncated);
  EXPECT_THAT(message, HasSubstr("its PNG data end early, near row "));
}

TEST(PngDecoder, ReportsDamage) {
  const auto [good, expected] = made::encode_png(made::photograph(61, 43, 1));
  const auto png = png_decoder();
  for (std::size_t at = 8; at < good.size() - 16; at += 29) {
    ByteVector bad = good;
    bad[at] ^= std::byte{0x10};
    EXPECT_NE(made::decode_outcome(*png, bad).error, std::nullopt) << at;
    ASSERT_TRUE(made::regions_are_exact(*png, good, expected, 1));
  }
}

// The header chunk has a fixed place. Its checksum is computed again.
ByteVector with_sides(ByteVector png, unsigned width, unsigned height) {
  std::uint8_t chunk[17];
  std::memcpy(chunk, png.data() + 12, sizeof chunk);
  for (int i = 0; i < 4; ++i) {
    chunk[4 + i] = static_cast<std::uint8_t>(width >> (24 - 8 * i));
    chunk[8 + i] = static_cast<std::uint8_t>(height >> (24 - 8 * i));
  }
  const auto checksum = static_cast<unsigned>(crc32(0, chunk, sizeof chunk));
  std::memcpy(png.data() + 12, chunk, sizeof chunk);
  for (std::size_t i = 0; i < 4; ++i)
    png[29 + i] = static_cast<std::byte>(checksum >> (24 - 8 * i));
  return png;
}

TEST(PngDecoder, RejectsBombsBeforeAllocation) {
  const auto [good, expected] = made::encode_png(made::photograph(61, 43, 1));
  EXPECT_EQ(made::decode_outcome(*png_decoder(), with_sides(good, 65000, 65000)).error,
            Kind::too_large);
  EXPECT_EQ(made::decode_outcome(*png_decoder(), with_sides(good, 2147483647, 2147483647)).error,
            Kind::too_large);
  EXPECT_EQ(made::decode_outcome(*png_decoder(), with_sides(good, 13000, 13000)).error,
            Kind::truncated);
  EXPECT_EQ(made::decode_outcome(*png_decoder(), with_sides(good, 0, 43)).error, Kind::damaged);
}

}  // namespace
}  // namespace loaderscope
