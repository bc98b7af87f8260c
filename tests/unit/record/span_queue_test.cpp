#include "record/span_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "unit/account/random_pipelines.h"

namespace loaderscope {
namespace {

TEST(SpanQueue, IsAQueue) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Dice dice(seed);
    SpanQueue queue;
    std::deque<Nanos> expected;
    Nanos next = 0;
    bool dropped = false;
    for (int i = 0; i < 3000; ++i) {
      if (expected.empty() || dice.between(0, 99) < (i < 1500 ? 60 : 40)) {
        Span span;
        span.begin = next;
        queue.push(span);
        expected.push_back(next++);
      } else {
        queue.drop_front();
        expected.pop_front();
        dropped = true;
      }
      ASSERT_EQ(queue.empty(), expected.empty());
      ASSERT_EQ(queue.held(), std::ssize(expected));
      ASSERT_EQ(queue.has_dropped(), dropped);
      const WorkerTimeline timeline = queue.timeline();
      ASSERT_TRUE(std::equal(timeline.begin(), timeline.end(), expected.begin(), expected.end(),
                             [](const Span& span, Nanos begin) { return span.begin == begin; }));
      if (!expected.empty()) {
        ASSERT_EQ(queue.front().begin, expected.front());
      }
    }
  }
}

}  // namespace
}  // namespace loaderscope
