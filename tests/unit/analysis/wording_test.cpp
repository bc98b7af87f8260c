#include "analysis/wording.h"

#include <gtest/gtest.h>

namespace loaderscope {
namespace {

TEST(Wording, FormatsEvenIntervalAsHalfWidth) {
  EXPECT_EQ(format_interval({0.25, 0.246, 0.254}), "±0.4");
  EXPECT_EQ(format_interval({0.25, 0.25, 0.25}), "±0.0");
  EXPECT_EQ(format_rate(Estimate{125, 124, 126}), "125 samples/s (±1)");
}

// The longer side is given: all of the interval lies within.
TEST(Wording, FormatsNearlyEvenIntervalAsEven) {
  EXPECT_EQ(format_interval({0.5, 0.4, 0.59}), "±10.0");
  EXPECT_EQ(format_interval({0.001, 0, 0.0019}), "±0.1");  // no tenth of a point between them
}

// Two blocks of steps, one of them with a step of 2.6 s.
TEST(Wording, FormatsSkewedOrClippedIntervalAsRange) {
  EXPECT_EQ(format_interval({0.804, 0, 1}), "0.0-100.0");
  EXPECT_EQ(format_interval({0.02, 0, 0.05}), "0.0-5.0");
  EXPECT_EQ(format_rate(Estimate{1271, 0, 2682}), "1,271 samples/s (0-2,682)");
  EXPECT_EQ(format_rate(Estimate{688, 0, 11'247}), "688 samples/s (0-11,247)");
  EXPECT_EQ(format_rate(Estimate{9.5, 9.25, 11}), "9.50 samples/s (9.25-11.00)");
}

TEST(Wording, NamesOpaqueWorkForPeople) {
  RunConfig config;
  EXPECT_EQ(shown_name("opaque"), "own code");
  EXPECT_EQ(shown_name("decode"), "decode");
  EXPECT_EQ(shown_name("opaque", config), "own code");
  config.loader.executor.value = Executor::opaque;
  EXPECT_EQ(shown_name("opaque", config), "loader");
  EXPECT_EQ(shown_name("decode", config), "decode");
}

}  // namespace
}  // namespace loaderscope
