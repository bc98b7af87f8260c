#include <gtest/gtest.h>

#include <algorithm>

#include "dataset/encode.h"
#include "unit/decode/check_decoder.h"
#include "unit/decode/made_jpeg.h"

namespace loaderscope::dataset {
namespace {

using made::ByteVector;
using made::Image;

std::vector<std::byte> with_restarts(const ByteVector& stored) {
  std::vector<std::byte> made;
  EXPECT_TRUE(add_restarts_to_jpeg(stored, made));
  return made;
}

TEST(Restarts, ChangesNoPixelOfAnyImage) {
  for (const int width : {16, 131, 320, 481}) {  // 1, 9, 20 and 31 MCUs
    for (const bool progressive : {false, true}) {
      for (const bool grey : {false, true}) {
        const Image image = made::photograph(width, 99, 1, 1.0, grey ? 1 : 3);
        const ByteVector stored = made::encode_jpeg(
            image,
            {.horizontal = grey ? 1 : 2, .vertical = grey ? 1 : 2, .progressive = progressive});
        const Image before = made::decode_whole_jpeg(stored);
        const Image after = made::decode_whole_jpeg(with_restarts(stored));
        EXPECT_EQ(before.data, after.data) << width << progressive << grey;
      }
    }
  }
}

TEST(Restarts, CostsFewBytes) {
  const ByteVector stored = made::encode_jpeg(made::photograph(500, 375, 1), {});
  EXPECT_LT(static_cast<double>(with_restarts(stored).size()),
            1.02 * static_cast<double>(stored.size()));
}

// The comment follows the start marker.
TEST(Restarts, KeepsCommentOfImage) {
  ByteVector stored = made::encode_jpeg(made::photograph(64, 64, 1), {});
  const char comment[] = "\xff\xfe\0\7hello";
  const auto* bytes = reinterpret_cast<const std::byte*>(comment);
  stored.insert(stored.begin() + 2, bytes, bytes + 9);
  const std::vector<std::byte> made = with_restarts(stored);
  EXPECT_NE(std::search(made.begin(), made.end(), bytes, bytes + 9), made.end());
}

TEST(Restarts, RejectsDamagedImages) {
  const ByteVector stored = made::encode_jpeg(made::photograph(64, 64, 1), {});
  std::vector<std::byte> made;
  for (std::size_t size = 0; size + 2 < stored.size(); size += 97)
    EXPECT_FALSE(add_restarts_to_jpeg(made::first(stored, size), made)) << size;
}

TEST(Restarts, RejectsBombBeforeAllocation) {
  ByteVector bomb = made::encode_jpeg(made::photograph(64, 64, 1), {});
  const std::byte frame[] = {std::byte{0xFF}, std::byte{0xC0}};
  const auto at = std::search(bomb.begin(), bomb.end(), frame, frame + 2);
  std::fill_n(at + 5, 4, std::byte{0xFD});  // both sides 65021
  std::vector<std::byte> made;
  EXPECT_FALSE(add_restarts_to_jpeg(bomb, made));
}

}  // namespace
}  // namespace loaderscope::dataset
