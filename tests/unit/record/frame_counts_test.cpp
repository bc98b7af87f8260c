#include "record/frame_counts.h"

#include <gtest/gtest.h>

namespace loaderscope {
namespace {

double share_of_frames(Nanos fixed, Nanos each, int accesses = 40) {
  const FrameCounts counts;
  for (int i = 0; i < accesses; ++i)
    counts.count({.decoded = 1 + i % 10, .is_seek = true}, 1, fixed + each * (1 + i % 10));
  return value_of(counts.metrics(), metric::video_per_frame_share).value_or(0);
}

TEST(FrameCounts, FitsTimePerDecodedFrame) {
  // 5.5 frames of an access take 5.5 ms of 11 ms.
  EXPECT_NEAR(share_of_frames(5'500 * kMicrosecond, kMillisecond), 0.5, 1e-9);
  EXPECT_NEAR(share_of_frames(0, kMillisecond), 1, 1e-9);
  EXPECT_EQ(share_of_frames(kMillisecond, 0), 0);
  EXPECT_EQ(share_of_frames(0, kMillisecond, 15), 0);  // too few
}

TEST(FrameCounts, FitsNothingToAccessesOfOneLength) {
  const FrameCounts counts;
  for (int i = 0; i < 40; ++i) counts.count({.decoded = 3}, 1, i * kMillisecond);
  EXPECT_FALSE(value_of(counts.metrics(), metric::video_per_frame_share));
  EXPECT_EQ(value_of(counts.metrics(), metric::video_seeks), 0);
}

}  // namespace
}  // namespace loaderscope
