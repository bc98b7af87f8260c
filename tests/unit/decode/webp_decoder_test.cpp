#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decode/decoders.h"
#include "unit/decode/check_decoder.h"
#include "unit/decode/good_images.h"
#include "unit/decode/made_webp.h"

namespace loaderscope {
namespace {

using Kind = SampleError::Kind;
using made::ByteVector;
using ::testing::HasSubstr;

const bool kWebpIsAdded = made::add_good_image(
    "webp", [] { return made::encode_webp(made::photograph(61, 43, 1), false); });

std::unique_ptr<Decoder> webp_decoder(const DecodeOptions& options = {}) {
  return make_webp_decoder(options);
}

TEST(WebpDecoder, DecodesRegionsAsInFullDecode) {
  const auto webp = webp_decoder();
  for (const bool lossless : {false, true}) {
    for (const auto& [width, height] :
         {std::pair{131, 99}, {64, 64}, {33, 65}, {1, 1}, {2, 40}, {3, 3}, {17, 16}, {40, 2}}) {
      const ByteVector stored = made::encode_webp(made::photograph(width, height, 1), lossless);
      EXPECT_TRUE(made::regions_are_exact(*webp, stored, made::decode_whole_webp(stored), 60))
          << lossless;
    }
  }
}

TEST(WebpDecoder, ReportsEveryCut) {
  for (const bool lossless : {false, true}) {
    const ByteVector stored = made::encode_webp(made::photograph(131, 99, 1), lossless);
    const auto webp = webp_decoder();
    made::check_cuts(*webp, stored, made::decode_whole_webp(stored));
  }
}

TEST(WebpDecoder, RejectsAnimations) {
  const auto [error, message] = made::decode_outcome(*webp_decoder(), made::animated_webp());
  EXPECT_EQ(error, Kind::unsupported);
  EXPECT_EQ(message, "it is an animated WebP, and only still images are samples");
}

TEST(WebpDecoder, SurvivesDamage) {
  const ByteVector good = made::encode_webp(made::photograph(131, 99, 1), false);
  const auto whole = made::decode_whole_webp(good);
  const auto webp = webp_decoder();
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    ByteVector bad = good;
    bad[12 + random() % (bad.size() - 12)] = static_cast<std::byte>(random());
    made::decode_outcome(*webp, bad);
  }
  EXPECT_TRUE(made::regions_are_exact(*webp, good, whole, 3));
}

TEST(WebpDecoder, RejectsLargeImages) {
  DecodeOptions options;
  options.largest_pixels = 131 * 99 - 1;
  const ByteVector stored = made::encode_webp(made::photograph(131, 99, 1), false);
  EXPECT_EQ(made::decode_outcome(*webp_decoder(options), stored).error, Kind::too_large);
}

}  // namespace
}  // namespace loaderscope
