// Checks the contract that every row of the decoder table keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string_view>

#include "loaderscope/decode.h"
#include "unit/decode/check_decoder.h"
#include "unit/decode/good_images.h"

namespace loaderscope {
namespace {

using Kind = SampleError::Kind;
using made::ByteVector;
using ::testing::HasSubstr;
using ::testing::Not;

std::map<std::string_view, ByteVector> good_images() {
  std::map<std::string_view, ByteVector> images;
  for (const auto& [row, make] : made::good_images()) images[row] = make();
  return images;
}

ByteVector text(std::string_view words) { return made::as_bytes(words.data(), words.size()); }

TEST(DecoderFamily, MakesEveryRowOrReportsReason) {
  const auto images = good_images();
  for (const DecoderRow& row : decoder_table()) {
    EXPECT_FALSE(row.row.help.empty());
    const auto reason = row.row.reason_not_available();
    EXPECT_EQ(reason.has_value(), images.count(row.row.name) == 0) << row.row.name;
    EXPECT_EQ(reason.has_value(), row.make == nullptr);
    EXPECT_THAT(reason.value_or("build again"), HasSubstr("build again"));
  }
}

TEST(DecoderFamily, RecognisesEveryFormatByOneRow) {
  for (const auto& [name, stored] : good_images()) {
    for (const DecoderRow& row : decoder_table()) {
      EXPECT_EQ(row.recognises(stored), row.row.name == name) << name;
      EXPECT_FALSE(row.recognises({}));
    }
  }
}

TEST(DecoderFamily, ThrowsLogicErrorForRegionOutsideImage) {
  for (const auto& [name, stored] : good_images()) {
    const auto decoder = make_any_decoder({});
    for (const Region& region :
         {Region{0, 0, 62, 43}, {-1, 0, 5, 5}, {0, 0, 0, 5}, {60, 42, 2, 1}}) {
      decoder->open(stored);
      EXPECT_THROW(decoder->decode(region), std::logic_error) << name;
    }
  }
}

TEST(DecoderFamily, RejectsImageAbovePixelLimit) {
  DecodeOptions options;
  options.largest_pixels = 61 * 43 - 1;
  for (const auto& [name, stored] : good_images()) {
    EXPECT_EQ(made::decode_outcome(*make_any_decoder(options), stored).error, Kind::too_large)
        << name;
  }
}

TEST(AnyDecoder, AcceptsNewFormatForEachSample) {
  const auto decoder = make_any_decoder({});
  for (int round = 0; round < 2; ++round) {
    for (const auto& [name, stored] : good_images()) {
      const ImageHeader header = decoder->open(stored);
      EXPECT_EQ(header.width, 61) << name;
      const Pixels pixels = decoder->decode({7, 3, 40, 30});
      EXPECT_EQ(pixels.region.width, 40);
      EXPECT_THROW(decoder->open(text("no image")), SampleError);
    }
  }
}

TEST(AnyDecoder, NamesContentThatIsNoImage) {
  struct NoImage {
    ByteVector stored;
    Kind kind;
    std::string_view message;
  };
  const NoImage cases[] = {
      {{}, Kind::truncated, "it is empty"},
      {text("\xFF\xD8"), Kind::truncated, "it ends within its first 12 bytes"},
      {text("RIFF\x10"), Kind::truncated, "it ends within its first 12 bytes"},
      {ByteVector(100), Kind::damaged, "zeros"},
      {text("<!DOCTYPE html><title>404"), Kind::unsupported, "an HTML page"},
      {text("\n <html>"), Kind::unsupported, "an HTML page"},
      {text("<svg xmlns="), Kind::unsupported, "an SVG image"},
      {text("{\"error\": 1}"), Kind::unsupported, "a JSON text"},
      {text("AccessDenied: sorry"), Kind::unsupported, "a text"},
      {text("version https://git-lfs.github.com/spec/v1"), Kind::unsupported, "a Git LFS pointer"},
      {text("GIF89a\1\2\3\4"), Kind::unsupported, "a GIF image"},
      {text("BM\1\2\3\4\5\6"), Kind::unsupported, "a BMP image"},
      {text({"II*\0\1\2\3\4", 8}), Kind::unsupported, "a TIFF image"},
      {text({"\0\0\0 ftypavif", 12}), Kind::unsupported, "an AVIF image"},
      {text("RIFF\1\1\1\1WAVEfmt "), Kind::unsupported, "begins with 52 49 46 46 01"},
      {text("\1\2\3\4\5\6\7\xFE\x09"), Kind::unsupported, "begins with 01 02 03 04 05 06 07 FE"},
  };
  for (const NoImage& one : cases) {
    const auto [error, message] = made::decode_outcome(*make_any_decoder({}), one.stored);
    EXPECT_EQ(error, one.kind) << one.message;
    EXPECT_THAT(message, HasSubstr(one.message));
    EXPECT_THAT(message, Not(HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace loaderscope
