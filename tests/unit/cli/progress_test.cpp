#include "cli/progress.h"

#include <gtest/gtest.h>

namespace loaderscope {
namespace {

TEST(Progress, HasRateAndTimeLeft) {
  EXPECT_EQ(progress_line("steps", {}, {1260, 0.42, 4}),
            "42 %, 1260 steps, 315 steps/s, 5.524 s left");
  EXPECT_EQ(progress_line("files", {}, {}), "no files yet");
  EXPECT_EQ(progress_line("steps", {}, {5, 1.5, 1}), "100 %, 5 steps, 5 steps/s, 0 ns left");
  EXPECT_EQ(progress_line("files", {}, {300, 0, 2}), "300 files, 150 files/s");
}

// Imports and warm-up took 60 s before the first of 1000 steps: no "16 h left".
TEST(Progress, CountsFromWhereSomethingWasFirstDone) {
  EXPECT_EQ(progress_line("steps", {1, 0.001, 60}, {1, 0.001, 60}), "0 %, 1 steps");
  EXPECT_EQ(progress_line("steps", {1, 0.001, 60}, {101, 0.101, 70}),
            "10 %, 101 steps, 10 steps/s, 89.90 s left");
}

}  // namespace
}  // namespace loaderscope
