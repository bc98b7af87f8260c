#include "cli/progress.h"

#include <gtest/gtest.h>

namespace loaderscope {
namespace {

TEST(Progress, HasRateAndTimeLeft) {
  EXPECT_EQ(progress_line(1260, "steps", 0.42, 4), "42 %, 1260 steps, 315 steps/s, 5.524 s left");
  EXPECT_EQ(progress_line(0, "files", 0, 0), "no files yet");
  EXPECT_EQ(progress_line(5, "steps", 1.5, 1), "100 %, 5 steps, 5 steps/s, 0 ns left");
}

}  // namespace
}  // namespace loaderscope
