#include "source/read_progress.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "source/readers.h"

namespace loaderscope::source {
namespace {

TEST(ReadProgress, ContinuesAfterShortRead) {
  ReadProgress progress(10);
  EXPECT_EQ(progress.buffer_bytes(), 10U);
  EXPECT_EQ(progress.length(), 10U);
  progress.answered(4);
  progress.answered(-EINTR);
  EXPECT_EQ(progress.offset(), 4U);
  EXPECT_EQ(progress.length(), 6U);
  EXPECT_FALSE(progress.complete());
  progress.answered(6);
  EXPECT_TRUE(progress.complete());
}

TEST(ReadProgress, AsksForWholeBlocksAndStopsAtTheEndOfTheFile) {
  ReadProgress progress(5000, 4096);
  EXPECT_EQ(progress.buffer_bytes(), 8192U);
  EXPECT_EQ(progress.length(), 8192U);
  progress.answered(5000);
  EXPECT_TRUE(progress.complete());
}

TEST(ReadProgress, ReadsABlockAgainThatWasCutShort) {
  ReadProgress progress(2000, 512);
  progress.answered(700);
  EXPECT_EQ(progress.offset(), 512U);
  EXPECT_EQ(progress.length(), 1536U);
  progress.answered(1488);
  EXPECT_TRUE(progress.complete());
}

TEST(ReadProgress, AlignsExtentWithinBlock) {
  ReadProgress progress(2000, 512, 1300);
  EXPECT_EQ(progress.offset(), 1024U);
  EXPECT_EQ(progress.length(), 2560U);  // up to 3584
  EXPECT_EQ(progress.lead(), 276U);
  progress.answered(1000);
  EXPECT_EQ(progress.offset(), 1536U);
  EXPECT_EQ(progress.place(), 512U);
  progress.answered(2048);
  EXPECT_TRUE(progress.complete());
}

TEST(ReadProgress, ReadsGrownFileUpToOldSize) {
  ReadProgress progress(5000, 4096);
  progress.answered(8192);
  EXPECT_TRUE(progress.complete());
}

TEST(ReadProgress, TreatsNoProgressAsEndOfFile) {
  for (const std::size_t alignment : {std::size_t{1}, std::size_t{512}}) {
    ReadProgress progress(2000, alignment);
    progress.answered(700);
    try {
      progress.answered(alignment == 1 ? 0 : 700 - 512);
      ADD_FAILURE() << "goes on for ever";
    } catch (const SampleError& error) {
      EXPECT_EQ(error.kind, SampleError::Kind::truncated);
      EXPECT_STREQ(error.what(), "shrank while it was read: ended after 700 of 2000 bytes");
    }
  }
}

TEST(ReadProgress, ThrowsSampleErrorForFailedRead) {
  ReadProgress progress(10);
  EXPECT_THROW(progress.answered(-EIO), SampleError);
}

TEST(ReadProgress, ReadsLargeFilesInParts) {
  constexpr std::size_t kSize = (std::size_t{5} << 30) + 3;
  ReadProgress progress(kSize, 4096);
  int reads = 0;
  for (; !progress.complete(); ++reads) {
    EXPECT_EQ(progress.offset() % 4096, 0U);
    EXPECT_EQ(progress.length() % 4096, 0U);
    progress.answered(static_cast<std::int64_t>(progress.length()));
  }
  EXPECT_EQ(reads, 6);
}

}  // namespace
}  // namespace loaderscope::source
