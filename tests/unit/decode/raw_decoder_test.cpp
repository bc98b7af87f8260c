#include <gtest/gtest.h>

#include "decode/decoders.h"
#include "unit/decode/check_decoder.h"
#include "unit/decode/good_images.h"

namespace loaderscope {
namespace {

using Kind = SampleError::Kind;
using made::ByteVector;

const bool kRawIsAdded =
    made::add_good_image("raw", [] { return made::encode_raw(made::photograph(61, 43, 1)); });

TEST(RawDecoder, ReturnsRegionsWithoutCopy) {
  const auto source = made::photograph(61, 43, 1);
  const ByteVector stored = made::encode_raw(source);
  const auto raw = make_raw_decoder({});
  EXPECT_TRUE(made::regions_are_exact(*raw, stored, source, 20));
  raw->open(stored);
  const Pixels pixels = raw->decode({0, 0, 61, 43});
  EXPECT_EQ(static_cast<const void*>(pixels.data), stored.data() + 16);
}

TEST(RawDecoder, ReportsEveryCut) {
  const auto source = made::photograph(61, 43, 1);
  const auto raw = make_raw_decoder({});
  made::check_cuts(*raw, made::encode_raw(source), source);
}

TEST(RawDecoder, RejectsWrongHeaders) {
  const ByteVector good = made::encode_raw(made::photograph(61, 43, 1));
  const auto error_with = [&](std::size_t at, unsigned value) {
    ByteVector bad = good;
    bad[at] = static_cast<std::byte>(value);
    return made::decode_outcome(*make_raw_decoder({}), bad).error;
  };
  EXPECT_EQ(error_with(8, 62), Kind::truncated);
  EXPECT_EQ(error_with(8, 60), Kind::damaged);
  EXPECT_EQ(error_with(8, 0), Kind::damaged);
  EXPECT_EQ(error_with(11, 255), Kind::too_large);
}

}  // namespace
}  // namespace loaderscope
