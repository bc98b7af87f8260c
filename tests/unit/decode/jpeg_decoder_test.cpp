#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "decode/decoders.h"
#include "unit/decode/check_decoder.h"
#include "unit/decode/good_images.h"
#include "unit/decode/made_jpeg.h"

namespace loaderscope {
namespace {

using Kind = SampleError::Kind;
using made::ByteVector;
using made::Image;
using made::JpegWish;
using ::testing::HasSubstr;

const bool kJpegIsAdded =
    made::add_good_image("jpeg", [] { return made::encode_jpeg(made::photograph(61, 43, 1)); });

std::unique_ptr<Decoder> jpeg_decoder(const DecodeOptions& options = {}) {
  return make_jpeg_decoder(options);
}

ByteVector good_jpeg(const JpegWish& wish = {}) {
  return made::encode_jpeg(made::photograph(131, 99, 1), wish);
}

// Sizes around the iMCU's and libjpeg's special cases.
const std::tuple<int, int> kSizes[] = {{131, 99}, {64, 64}, {33, 65}, {1, 1},   {2, 40}, {3, 3},
                                       {5, 17},   {40, 2},  {17, 16}, {18, 50}, {9, 9},  {97, 31}};

class Sampling : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Sampling, DecodesRegionsAsInFullDecode) {
  JpegWish wish;
  std::tie(wish.horizontal, wish.vertical) = GetParam();
  for (const bool fast : {false, true}) {
    DecodeOptions options;
    options.fast_upsampling = fast;
    const auto jpeg = jpeg_decoder(options);
    for (const auto& [width, height] : kSizes) {
      const Image source = made::photograph(width, height, 3);
      for (const int variant : {0, 1, 2, 3, 4, 5, 6}) {
        wish.progressive = variant == 1;
        wish.restart_rows = variant == 2 ? 1 : 0;
        wish.arithmetic = variant == 3;
        wish.restart_interval = std::max(0, variant - 3);
        const ByteVector stored = made::encode_jpeg(source, wish);
        const Image whole = made::decode_whole_jpeg(stored, fast);
        ASSERT_TRUE(made::regions_are_exact(*jpeg, stored, whole, 40)) << fast << variant;
      }
    }
  }
}

TEST_P(Sampling, DecodesScaledRegionsAsInScaledDecode) {
  JpegWish wish;
  std::tie(wish.horizontal, wish.vertical) = GetParam();
  DecodeOptions options;
  options.dct_scale_auto = true;
  std::mt19937 random(5);
  for (const int denominator : {2, 4}) {
    for (const auto& [width, height] : {std::tuple{131, 99}, {64, 64}, {49, 35}}) {
      wish.restart_interval = width == 131 ? 1 : 0;
      const ByteVector stored = made::encode_jpeg(made::photograph(width, height, 3), wish);
      const Image whole = made::decode_whole_jpeg(stored, false, denominator);
      for (int i = 0; i < 60; ++i) {
        const Region wanted = made::random_region(random, width, height);
        const int side = std::min(wanted.width, wanted.height);
        if (side < denominator) continue;
        options.wanted = side / denominator;
        const auto jpeg = jpeg_decoder(options);
        jpeg->open(stored);
        const Pixels pixels = jpeg->decode(wanted);
        // Small sides may be good for 4 as well as for 2: 3 / 2 = 1 = 4 / 4.
        if (pixels.scale_denominator != denominator) continue;
        ASSERT_LE(pixels.region.x * denominator, wanted.x);
        ASSERT_GE((pixels.region.x + pixels.region.width) * denominator, wanted.x + wanted.width);
        ASSERT_GE(std::min(pixels.region.width, pixels.region.height), options.wanted);
        ASSERT_TRUE(made::equals_region(whole, pixels)) << denominator;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(JpegDecoder, Sampling,
                         ::testing::Values(std::tuple{1, 1}, std::tuple{2, 1}, std::tuple{2, 2},
                                           std::tuple{1, 2}, std::tuple{4, 1}, std::tuple{1, 4},
                                           std::tuple{4, 2}, std::tuple{2, 4}, std::tuple{3, 1}));

TEST(JpegDecoder, ScalesNoFurtherThanWanted) {
  const ByteVector stored = made::encode_jpeg(made::photograph(500, 375, 3));
  const auto denominator = [&](int wanted, bool automatic, int side) {
    DecodeOptions options;
    options.dct_scale_auto = automatic;
    options.wanted = wanted;
    const auto jpeg = jpeg_decoder(options);
    jpeg->open(stored);
    return jpeg->decode({0, 0, side + 7, side}).scale_denominator;
  };
  EXPECT_EQ(denominator(100, true, 199), 1);
  EXPECT_EQ(denominator(100, true, 200), 2);
  EXPECT_EQ(denominator(80, true, 319), 2);
  EXPECT_EQ(denominator(80, true, 320), 4);
  EXPECT_EQ(denominator(80, false, 320), 1);
  EXPECT_EQ(denominator(0, true, 320), 1);
}

TEST(JpegDecoder, DecodesGreyToRgb) {
  for (const bool progressive : {false, true}) {
    const ByteVector stored =
        made::encode_jpeg(made::photograph(131, 99, 2, 1.0, 1), {.progressive = progressive});
    EXPECT_TRUE(
        made::regions_are_exact(*jpeg_decoder(), stored, made::decode_whole_jpeg(stored), 40));
  }
}

TEST(JpegDecoder, KeepsStoredRgb) {
  const ByteVector stored = good_jpeg({.horizontal = 1, .vertical = 1, .stored_as = JCS_RGB});
  EXPECT_TRUE(
      made::regions_are_exact(*jpeg_decoder(), stored, made::decode_whole_jpeg(stored), 40));
}

// Pillow's rule: inverted inks, each times black.
Image rgb_of_inks(const Image& inks) {
  Image rgb{inks.width, inks.height, 3, {}};
  for (std::size_t i = 0; i < inks.data.size(); i += 4) {
    for (std::size_t c = 0; c < 3; ++c) {
      const double value = inks.data[i + c] * inks.data[i + 3] / 255.0;
      rgb.data.push_back(static_cast<std::uint8_t>(std::lround(value)));
    }
  }
  return rgb;
}

TEST(JpegDecoder, ConvertsInksToRgb) {
  const Image source = made::photograph(75, 50, 2, 1.0, 4);
  for (const auto space : {JCS_CMYK, JCS_YCCK}) {
    const ByteVector stored =
        made::encode_jpeg(source, {.horizontal = 1, .vertical = 1, .stored_as = space});
    const Image expected = rgb_of_inks(made::decode_whole_jpeg(stored));
    const auto jpeg = jpeg_decoder();
    std::mt19937 random(1);
    for (int i = 0; i < 20; ++i) {
      jpeg->open(stored);
      const Pixels pixels = jpeg->decode(made::random_region(random, 75, 50));
      for (int y = 0; y < pixels.region.height; ++y) {
        for (int x = 0; x < pixels.region.width * 3; ++x) {
          const int is =
              pixels
                  .data[static_cast<std::size_t>(y) * pixels.stride + static_cast<std::size_t>(x)];
          ASSERT_NEAR(is, expected.row(pixels.region.y + y)[pixels.region.x * 3 + x], 1);
        }
      }
    }
  }
}

// libjpeg smooths blocks whose last scans are missing; that looks far around.
TEST(JpegDecoder, DecodesUnrefinedProgressiveExactly) {
  for (const int scans : {2, 4, 6}) {
    const ByteVector stored = good_jpeg({.progressive = true, .scans = scans});
    EXPECT_TRUE(
        made::regions_are_exact(*jpeg_decoder(), stored, made::decode_whole_jpeg(stored), 60))
        << scans;
  }
}

TEST(JpegDecoder, ReportsEveryCut) {
  for (const int variant : {0, 1, 2, 3}) {
    const ByteVector stored = good_jpeg({.progressive = variant == 1,
                                         .arithmetic = variant == 2,
                                         .restart_rows = variant == 3 ? 1 : 0});
    const auto jpeg = jpeg_decoder();
    made::check_cuts(*jpeg, stored, made::decode_whole_jpeg(stored));
  }
}

TEST(JpegDecoder, IgnoresCutBelowRegion) {
  const ByteVector stored = good_jpeg();
  const ByteVector cut = made::first(stored, stored.size() / 2);
  const auto jpeg = jpeg_decoder();
  jpeg->open(cut);
  EXPECT_TRUE(made::equals_region(made::decode_whole_jpeg(stored), jpeg->decode({3, 3, 100, 20})));
  const auto [error, message] = made::decode_outcome(*jpeg, cut);
  EXPECT_EQ(error, Kind::truncated);
  EXPECT_THAT(message, HasSubstr("its JPEG data end early, near row "));
}

TEST(JpegDecoder, ReportsCutBeforeAddedEndMarker) {
  ByteVector cut = made::first(good_jpeg(), good_jpeg().size() / 2);
  cut.push_back(std::byte{0xFF});
  cut.push_back(std::byte{0xD9});
  EXPECT_EQ(made::decode_outcome(*jpeg_decoder(), cut).error, Kind::truncated);
}

TEST(JpegDecoder, ReportsDamage) {
  const ByteVector good = good_jpeg({.restart_rows = 1});
  const Image whole = made::decode_whole_jpeg(good);
  const auto jpeg = jpeg_decoder();
  ByteVector bad = good;
  for (std::size_t i = bad.size() / 2; i < bad.size() / 2 + 40; ++i) bad[i] = std::byte{0xFE};
  const auto [error, message] = made::decode_outcome(*jpeg, bad);
  EXPECT_EQ(error, Kind::damaged);
  EXPECT_THAT(message, HasSubstr("its JPEG data are wrong near row "));
  EXPECT_TRUE(made::regions_are_exact(*jpeg, good, whole, 3));
}

bool is_restart(const ByteVector& jpeg, std::size_t at) {
  return jpeg[at] == std::byte{0xFF} && (jpeg[at + 1] & std::byte{0xF8}) == std::byte{0xD0};
}

// The image has 9 x 7 MCUs with a marker after each.
TEST(JpegDecoder, SkipsIntervalsOutsideOfRegion) {
  const ByteVector good = good_jpeg({.restart_interval = 1});
  const Image whole = made::decode_whole_jpeg(good);
  ByteVector bad = good;
  std::size_t at = 0;
  while (!is_restart(bad, at)) ++at;
  for (at += 2; !is_restart(bad, at); ++at) bad[at] = std::byte{0xFE};  // the second MCU
  const auto jpeg = jpeg_decoder();
  EXPECT_EQ(made::decode_outcome(*jpeg, bad).error, Kind::damaged);
  jpeg->open(bad);
  EXPECT_TRUE(made::equals_region(whole, jpeg->decode({70, 60, 30, 30})));
}

TEST(JpegDecoder, ReportsMarkersOutOfOrder) {
  ByteVector bad = good_jpeg({.restart_interval = 1});
  std::size_t at = bad.size() / 2;
  while (!is_restart(bad, at)) ++at;
  bad[at + 1] ^= std::byte{4};
  const auto jpeg = jpeg_decoder();
  jpeg->open(bad);
  EXPECT_THROW(jpeg->decode({70, 60, 61, 39}), SampleError);
}

void set_sides(ByteVector& jpeg, unsigned height, unsigned width) {
  for (std::size_t i = 2; i + 9 < jpeg.size(); ++i) {
    const auto marker = std::to_integer<unsigned>(jpeg[i + 1]);
    if (jpeg[i] != std::byte{0xFF} || marker < 0xC0 || marker > 0xC2) continue;
    const unsigned values[] = {height >> 8, height & 255, width >> 8, width & 255};
    for (std::size_t k = 0; k < 4; ++k) jpeg[i + 5 + k] = static_cast<std::byte>(values[k]);
    return;
  }
  FAIL() << "no frame header";
}

TEST(JpegDecoder, RejectsBombsBeforeAllocation) {
  const auto jpeg = jpeg_decoder();
  for (const bool progressive : {false, true}) {
    ByteVector bomb = good_jpeg({.progressive = progressive});
    set_sides(bomb, 65000, 65000);
    EXPECT_EQ(made::decode_outcome(*jpeg, bomb).error, Kind::too_large);
    set_sides(bomb, 65535, 65535);  // more than libjpeg takes
    EXPECT_EQ(made::decode_outcome(*jpeg, bomb).error, Kind::too_large);
    set_sides(bomb, 13000, 13000);  // within the limit, yet not in so few bytes
    EXPECT_EQ(made::decode_outcome(*jpeg, bomb).error, Kind::truncated);
  }
}

TEST(JpegDecoder, RejectsTooManyScans) {
  const ByteVector good = made::encode_jpeg(made::photograph(64, 64, 2, 1.0, 1),
                                            {.horizontal = 1, .vertical = 1, .two_scans = true});
  const ByteVector start = {std::byte{0xFF}, std::byte{0xDA}};
  const auto last = std::find_end(good.begin(), good.end(), start.begin(), start.end());
  ByteVector many = good;
  const auto repeat = [&](int count) {
    many.erase(many.end() - 2, many.end());
    for (int i = 0; i < count; ++i) many.insert(many.end(), last, good.end() - 2);
    many.insert(many.end(), good.end() - 2, good.end());
  };
  repeat(60);
  EXPECT_TRUE(made::regions_are_exact(*jpeg_decoder(), many, made::decode_whole_jpeg(good), 3));
  repeat(10);
  const auto [error, message] = made::decode_outcome(*jpeg_decoder(), many);
  EXPECT_EQ(error, Kind::unsupported);
  EXPECT_THAT(message, HasSubstr("it has more than 64 scans"));
}

// An image without tables must not be decoded with those of the image before.
TEST(JpegDecoder, ForgetsTablesOfPreviousImage) {
  const ByteVector good = good_jpeg();
  ByteVector bad;
  for (std::size_t i = 0; i < good.size();) {
    const bool table =
        good[i] == std::byte{0xFF} && i + 3 < good.size() && good[i + 1] == std::byte{0xDB};
    if (table) {
      i += 2 + std::to_integer<std::size_t>(good[i + 2]) * 256 +
           std::to_integer<std::size_t>(good[i + 3]);
    } else {
      bad.push_back(good[i++]);
    }
  }
  const auto jpeg = jpeg_decoder();
  EXPECT_EQ(made::decode_outcome(*jpeg, good).error, std::nullopt);
  EXPECT_EQ(made::decode_outcome(*jpeg, bad).error, Kind::damaged);
}

TEST(JpegDecoder, SurvivesGarbage) {
  const ByteVector good = good_jpeg();
  const Image whole = made::decode_whole_jpeg(good);
  const auto jpeg = jpeg_decoder();
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    ByteVector bad = good;
    for (int k = 0; k < 1 + i / 30; ++k)
      bad[2 + random() % (bad.size() - 2)] = static_cast<std::byte>(random());
    made::decode_outcome(*jpeg, bad);
  }
  EXPECT_TRUE(made::regions_are_exact(*jpeg, good, whole, 3));
}

TEST(JpegDecoder, RejectsLosslessAndTwelveBits) {
  ByteVector lossless = good_jpeg();
  ByteVector deep = good_jpeg();
  for (std::size_t i = 2; i + 4 < lossless.size(); ++i) {
    if (lossless[i] != std::byte{0xFF} || lossless[i + 1] != std::byte{0xC0}) continue;
    lossless[i + 1] = std::byte{0xC3};
    deep[i + 4] = std::byte{12};
    break;
  }
  EXPECT_EQ(made::decode_outcome(*jpeg_decoder(), lossless).error, Kind::unsupported);
  EXPECT_EQ(made::decode_outcome(*jpeg_decoder(), deep).error, Kind::unsupported);
}

}  // namespace
}  // namespace loaderscope
