// The extra time of the first call in a worker counts as the start of that worker.
#include "guest/host/window_recorder.h"

#include <gtest/gtest.h>

#include "record/rank_folder.h"

namespace loaderscope::guest {
namespace {

Span decode(Nanos begin, Nanos length) {
  Span span;
  span.begin = begin;
  span.end = begin + length;
  span.cpu = length / 2;
  span.batch = 3;
  span.sample = 7;
  span.bytes = 100;
  span.stage = Stage::decode;
  return span;
}

Span startup_span(std::int32_t) {
  Span span;
  span.end = kMillisecond;
  span.stage = Stage::startup;
  return span;
}

class FirstCallsTest : public testing::Test {
 protected:
  // A worker that has decoded many samples in 2 ms each.
  FirstCallsTest() {
    for (int i = 0; i < 20; ++i)
      EXPECT_FALSE(take(0, decode(i * 2 * kMillisecond, 2 * kMillisecond)));
  }
  std::optional<Span> take(std::int32_t worker, Span span) {
    std::optional<Span> start = calls_.take_start(worker, span);
    left_ = span;
    return start;
  }
  void start_worker(std::int32_t worker) { EXPECT_FALSE(take(worker, startup_span(worker))); }

  FirstCalls calls_;
  Span left_;
};

TEST_F(FirstCallsTest, BooksTimeBeyondUsualAsStart) {
  start_worker(1);
  const std::optional<Span> start = take(1, decode(kSecond, 302 * kMillisecond));
  ASSERT_TRUE(start);
  EXPECT_EQ(start->stage, Stage::startup);
  EXPECT_EQ(start->begin, kSecond);
  EXPECT_EQ(start->end, kSecond + 300 * kMillisecond);
  EXPECT_EQ(start->cpu, 150 * kMillisecond);
  EXPECT_EQ(left_.stage, Stage::decode);
  EXPECT_EQ(left_.begin, start->end);
  EXPECT_EQ(left_.end, kSecond + 302 * kMillisecond);
  EXPECT_EQ(left_.cpu, kMillisecond);
  EXPECT_EQ(left_.bytes, 100);
  EXPECT_FALSE(take(1, decode(2 * kSecond, 302 * kMillisecond)));  // the second is what it is
  start_worker(1);
  EXPECT_TRUE(take(1, decode(3 * kSecond, 302 * kMillisecond)));
}

// The first collation of a worker takes 15 ms more: nothing is made ahead yet that would hide it.
TEST_F(FirstCallsTest, CutsOffFewMilliseconds) {
  start_worker(1);
  const std::optional<Span> start = take(1, decode(kSecond, 17 * kMillisecond));
  ASSERT_TRUE(start);
  EXPECT_EQ(start->end, kSecond + 15 * kMillisecond);
}

TEST_F(FirstCallsTest, LeavesOutWaitsForACore) {
  start_worker(1);
  Span span = decode(kSecond, 40 * kMillisecond);
  span.cpu = 2 * kMillisecond;
  span.queued = 38 * kMillisecond;
  EXPECT_FALSE(take(1, span));
  start_worker(1);
  span.cpu = 20 * kMillisecond;
  span.queued = 20 * kMillisecond;
  const std::optional<Span> start = take(1, span);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->end, kSecond + 36 * kMillisecond);
  EXPECT_EQ(start->queued, 18 * kMillisecond);
  EXPECT_EQ(left_.end - left_.begin, 4 * kMillisecond);
}

TEST_F(FirstCallsTest, KeepsFirstCallOfAboutUsualLength) {
  start_worker(1);
  EXPECT_FALSE(take(1, decode(kSecond, 9 * kMillisecond)));
  FirstCalls unknown;
  Span span = startup_span(0);
  unknown.take_start(0, span);
  span = decode(0, kSecond);
  EXPECT_FALSE(unknown.take_start(0, span));  // no usual time is known yet
}

TEST(StageTotals, AddsFirstCallToSameStart) {
  Span first = decode(0, 300 * kMillisecond);
  first.stage = Stage::startup;
  StageTotals totals;
  Span start = startup_span(0);
  start.batch = -1;
  totals.add_spans({start});
  totals.add_spans({first, decode(300 * kMillisecond, 2 * kMillisecond)});
  EXPECT_EQ(totals.stages[Stage::startup].count, 1);
  EXPECT_EQ(totals.stages[Stage::startup].wall, 301 * kMillisecond);
  EXPECT_EQ(totals.stages[Stage::decode].count, 1);
  EXPECT_EQ(totals.stages[Stage::decode].wall, 2 * kMillisecond);
}

}  // namespace
}  // namespace loaderscope::guest
