#include "loaderscope/errors.h"

#include <gtest/gtest.h>

namespace loaderscope {
namespace {

const std::vector<std::string_view> kWords = {
    "num-workers", "prefetch-factor", "batch-size", "read", "pin", "decode"};

TEST(NearestWord, MendsTypos) {
  EXPECT_EQ(nearest_word("num-worker", kWords), "num-workers");
  EXPECT_EQ(nearest_word("num_workers", kWords), "num-workers");
  EXPECT_EQ(nearest_word("numworkers", kWords), "num-workers");
  EXPECT_EQ(nearest_word("DECODE", kWords), "decode");
  EXPECT_EQ(nearest_word("deocde", kWords), "decode");
  EXPECT_EQ(nearest_word("raed", kWords), "read");
  EXPECT_EQ(nearest_word("prefetch-facto", kWords), "prefetch-factor");
}

TEST(NearestWord, CompletesBeginnings) {
  EXPECT_EQ(nearest_word("prefetch", kWords), "prefetch-factor");
  // A prefix wins over a word of the same length.
  EXPECT_EQ(nearest_word("tun", {"run", "tune"}), "tune");
  EXPECT_EQ(nearest_word("ba", kWords), "batch-size");
}

TEST(NearestWord, IsSilentWhenNothingIsNear) {
  for (const char* word : {"", "x", "nope", "compute", "b"})
    EXPECT_EQ(nearest_word(word, kWords), "") << word;
  EXPECT_EQ(nearest_word(std::string(1'000'000, 'r'), kWords), "");
  EXPECT_EQ(nearest_word("read", {}), "");
}

TEST(Suggestion, IsTheTailOfASentence) {
  EXPECT_EQ(suggestion("reda", kWords), "; did you mean 'read'?");
  EXPECT_EQ(suggestion("zzzzzz", kWords), "");
}

TEST(ShownText, HasNoControlCharactersAndAnEnd) {
  EXPECT_EQ(shown_text("a\nb\x1b[2J"), "a\\x0ab\\x1b[2J");
  EXPECT_EQ(shown_text(std::string(1000, 'a')), std::string(80, 'a') + "...");
}

}  // namespace
}  // namespace loaderscope
