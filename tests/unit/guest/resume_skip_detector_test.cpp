#include "guest/host/loader_tallies.h"

#include <gtest/gtest.h>

namespace loaderscope::guest {
namespace {

constexpr Nanos kUs = kMicrosecond;

// Asks for a batch every 10 ms. The trainer holds batch k for `held[k]`.
ResumeSkipDetector detector(const std::vector<Nanos>& held) {
  ResumeSkipDetector skipped;
  Nanos asked = 0;
  for (const Nanos each : held) skipped.done(each, asked += 10 * kMillisecond);
  return skipped;
}

TEST(ResumeSkipDetector, CountsBatchesBeforeFirstTrainedBatch) {
  const auto skip = detector({50 * kUs, 20 * kUs, 30 * kUs, 20 * kUs}).before(5 * kMillisecond);
  EXPECT_EQ(skip.batches, 4);
  EXPECT_EQ(skip.until, 40 * kMillisecond);
}

TEST(ResumeSkipDetector, ExcludesBatchesOfAccumulatedGradients) {
  EXPECT_EQ(detector({9 * kMillisecond, 5 * kMillisecond, 5 * kMillisecond})
                .before(6 * kMillisecond)
                .batches,
            0);
  EXPECT_EQ(detector(std::vector<Nanos>(32, 3 * kMillisecond)).before(50 * kMillisecond).batches,
            0);
  const auto skip = detector({20 * kUs, 30 * kUs, 20 * kUs, 8 * kMillisecond, 5 * kMillisecond})
                        .before(6 * kMillisecond);
  EXPECT_EQ(skip.batches, 3);
  EXPECT_EQ(skip.until, 30 * kMillisecond);
}

TEST(ResumeSkipDetector, RequiresMoreThanOneBatch) {
  EXPECT_EQ(detector({20 * kUs}).before(5 * kMillisecond).batches, 0);
  EXPECT_EQ(detector({}).before(5 * kMillisecond).batches, 0);
}

TEST(ResumeSkipDetector, ToleratesOneLongHold) {
  std::vector<Nanos> held(40, 20 * kUs);
  held[3] = 30 * kMillisecond;
  EXPECT_EQ(detector(held).before(5 * kMillisecond).batches, 40);
  EXPECT_TRUE(detector(held).all_at_once());
}

TEST(ResumeSkipDetector, DetectsSkippingOfAllBatches) {
  EXPECT_FALSE(detector({20 * kUs}).all_at_once());
  EXPECT_TRUE(detector({20 * kUs, 20 * kUs, 20 * kUs}).all_at_once());
  EXPECT_FALSE(detector({20 * kUs, 20 * kUs, 2 * kMillisecond}).all_at_once());
}

}  // namespace
}  // namespace loaderscope::guest
