#include "guest/host/program_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loaderscope::guest {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(NoLoaderWarning, RepeatsAtGrowingIntervals) {
  const RunConfig config;
  NoLoaderWarning unseen(config);
  EXPECT_FALSE(unseen.is_due(29 * kSecond));
  EXPECT_TRUE(unseen.is_due(30 * kSecond));
  EXPECT_FALSE(unseen.is_due(59 * kSecond));
  EXPECT_TRUE(unseen.is_due(60 * kSecond));
  EXPECT_FALSE(unseen.is_due(119 * kSecond));
}

TEST(NoLoaderWarning, StartsEarlierForShortWindow) {
  RunConfig config;
  config.measure.duration.set(kSecond);
  EXPECT_FALSE(NoLoaderWarning(config).is_due(19 * kSecond));
  EXPECT_TRUE(NoLoaderWarning(config).is_due(20 * kSecond));
  config.measure.duration.set(3600 * kSecond);
  EXPECT_TRUE(NoLoaderWarning(config).is_due(30 * kSecond));
}

TEST(NoLoaderWarning, SaysWhatIsKnown) {
  RunConfig config;
  const Nanos since = 30 * kSecond + kMillisecond;
  const auto sentence = [&](int pythons, const char* why) {
    return NoLoaderWarning(config).sentence("python train.py", since, pythons, why);
  };
  EXPECT_THAT(sentence(1, ""), HasSubstr("python train.py: running for 30.00 s"));
  EXPECT_THAT(sentence(1, ""), Not(HasSubstr("--duration")));
  EXPECT_THAT(sentence(0, ""), HasSubstr("-E, -I and -S"));
  EXPECT_THAT(sentence(1, "a loader is odd"), HasSubstr("no batch was seen: a loader is odd"));
  config.measure.steps.set(20);
  EXPECT_THAT(sentence(1, ""), HasSubstr("--steps begins with the first one"));
}

}  // namespace
}  // namespace loaderscope::guest
