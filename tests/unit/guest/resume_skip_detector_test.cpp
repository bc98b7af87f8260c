#include "guest/host/loader_tallies.h"

#include <gtest/gtest.h>

namespace loaderscope::guest {
namespace {

constexpr Nanos kUs = kMicrosecond;

// A batch is asked for every 10 ms, behind the one before.
ResumeSkipDetector of(const std::vector<Nanos>& held) {
  ResumeSkipDetector skipped;
  Nanos asked = 0;
  for (const Nanos each : held) skipped.done(each, asked += 10 * kMillisecond);
  return skipped;
}

TEST(ResumeSkipDetector, ComeBeforeTheFirstThatIsTrainedWith) {
  const auto skip = of({50 * kUs, 20 * kUs, 30 * kUs, 20 * kUs}).before(5 * kMillisecond);
  EXPECT_EQ(skip.batches, 4);
  EXPECT_EQ(skip.until, 40 * kMillisecond);
}

TEST(ResumeSkipDetector, AreNoneOfThoseWhoseGradientsAStepAccumulates) {
  EXPECT_EQ(
      of({9 * kMillisecond, 5 * kMillisecond, 5 * kMillisecond}).before(6 * kMillisecond).batches,
      0);
  EXPECT_EQ(of(std::vector<Nanos>(32, 3 * kMillisecond)).before(50 * kMillisecond).batches, 0);
  const auto skip = of({20 * kUs, 30 * kUs, 20 * kUs, 8 * kMillisecond, 5 * kMillisecond})
                        .before(6 * kMillisecond);
  EXPECT_EQ(skip.batches, 3);
  EXPECT_EQ(skip.until, 30 * kMillisecond);
}

TEST(ResumeSkipDetector, AreMoreThanALookAtTheFirst) {
  EXPECT_EQ(of({20 * kUs}).before(5 * kMillisecond).batches, 0);
  EXPECT_EQ(of({}).before(5 * kMillisecond).batches, 0);
}

TEST(ResumeSkipDetector, MayBeHeldForOnceByAnythingElse) {
  std::vector<Nanos> held(40, 20 * kUs);
  held[3] = 30 * kMillisecond;
  EXPECT_EQ(of(held).before(5 * kMillisecond).batches, 40);
  EXPECT_TRUE(of(held).all_at_once());
}

TEST(ResumeSkipDetector, MayBeAllThatCame) {
  EXPECT_FALSE(of({20 * kUs}).all_at_once());
  EXPECT_TRUE(of({20 * kUs, 20 * kUs, 20 * kUs}).all_at_once());
  EXPECT_FALSE(of({20 * kUs, 20 * kUs, 2 * kMillisecond}).all_at_once());
}

}  // namespace
}  // namespace loaderscope::guest
