#include "loaderscope/errors.h"

#include <gtest/gtest.h>

namespace loaderscope {
namespace {

const std::vector<std::string_view> kWords = {
    "num-workers", "prefetch-factor", "batch-size", "read", "pin", "decode"};

TEST(NearestWord, CorrectsTypos) {
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

TEST(NearestWord, ReturnsNothingWithoutNearWord) {
  for (const char* word : {"", "x", "nope", "compute", "b"})
    EXPECT_EQ(nearest_word(word, kWords), "") << word;
  EXPECT_EQ(nearest_word(std::string(1'000'000, 'r'), kWords), "");
  EXPECT_EQ(nearest_word("read", {}), "");
}

TEST(Error, JoinsSentenceAndHintInOneLine) {
  const UsageError error("--steps 0: expected 1 or more", "give --steps 100");
  EXPECT_STREQ(error.what(), "--steps 0: expected 1 or more; give --steps 100");
  EXPECT_EQ(error.sentence(), "--steps 0: expected 1 or more");
  EXPECT_EQ(error.hint(), "give --steps 100");
}

TEST(Error, KeepsOneTextAsSentence) {
  const RunError error("photos: cannot be read; it is damaged");
  EXPECT_STREQ(error.what(), "photos: cannot be read; it is damaged");
  EXPECT_EQ(error.sentence(), error.what());
  EXPECT_EQ(error.hint(), "");
  EXPECT_EQ(RunError("photos: is empty", "").what(), std::string("photos: is empty"));
}

TEST(Error, KeepsHintAcrossItsMessage) {
  const RunError error("photos: is empty", "make images with data make");
  EXPECT_EQ(error.message(), "photos: is empty\nhint: make images with data make");
  const RunError copy(error.message());
  EXPECT_STREQ(copy.what(), error.what());
  EXPECT_EQ(copy.hint(), error.hint());
  EXPECT_EQ(RunError("photos: is empty").message(), "photos: is empty");
}

TEST(Error, KeepsHintAfterPlaceIsAdded) {
  const auto error = add_place<UsageError>("--data x: ", ValueError("is empty", "give another"));
  EXPECT_EQ(error.sentence(), "--data x: is empty");
  EXPECT_EQ(error.hint(), "give another");
}

TEST(Error, DropsHintAfterZeroByte) {
  const RunError error(std::string("a\0b", 3), "give another");
  EXPECT_EQ(error.sentence(), "a");
  EXPECT_EQ(error.hint(), "");
}

TEST(Suggestion, FormatsTailOfSentence) {
  EXPECT_EQ(suggestion("reda", kWords), "; did you mean 'read'?");
  EXPECT_EQ(suggestion("zzzzzz", kWords), "");
}

TEST(ShownText, EscapesControlCharactersAndCutsLongText) {
  EXPECT_EQ(shown_text("a\nb\x1b[2J"), "a\\x0ab\\x1b[2J");
  EXPECT_EQ(shown_text(std::string(1000, 'a')), std::string(80, 'a') + "...");
}

}  // namespace
}  // namespace loaderscope
