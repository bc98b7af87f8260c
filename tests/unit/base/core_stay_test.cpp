// A thread that waits, or that another one takes turns with, has left its core.
#include "base/core_stay.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>

#include "base/sleep.h"
#include "base/thread_meter.h"
#include "unit/machine/no_stop.h"

namespace loaderscope {
namespace {

using test::kNoStop;

class CoreStayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!CoreStay::known()) GTEST_SKIP() << "neither the kernel nor the C library tells";
  }
};

TEST_F(CoreStayTest, EndsWithASleep) {
  CoreStay::begin();
  sleep_until(monotonic_now() + 2 * kMillisecond);
  EXPECT_FALSE(CoreStay::unbroken());
  CoreStay::begin();
  sleep_until(monotonic_now() + 2 * kMillisecond);
  EXPECT_FALSE(CoreStay::unbroken());
}

TEST_F(CoreStayTest, LastsWhileAThreadOnlyComputes) {
  int unbroken = 0;
  for (int i = 0; i < 1000; ++i) {
    CoreStay::begin();
    burn_cpu(2 * kMicrosecond, kNoStop);
    unbroken += CoreStay::unbroken() ? 1 : 0;
  }
  EXPECT_GT(unbroken, 500);
}

// The promise that CPU times rest on: a stay is never called unbroken when the thread was off its
// core meanwhile.
TEST_F(CoreStayTest, EndsWhenAnotherThreadTakesTheCore) {
  cpu_set_t usable, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof usable, &usable), 0);
  std::size_t core = 0;
  while (!CPU_ISSET(core, &usable)) ++core;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  std::atomic<int> stop{0};
  const auto use_one_core = [&one] { ::sched_setaffinity(0, sizeof one, &one); };
  std::thread rival([&] {
    use_one_core();
    burn_cpu(3600 * kSecond, stop);
  });
  Nanos off_core_unseen = 0;
  int broken = 0;
  std::thread([&] {
    use_one_core();
    RunQueueMeter meter;
    for (int i = 0; i < 100; ++i) {
      CoreStay::begin();
      meter.read();
      burn_cpu(kMillisecond, kNoStop);
      const Nanos delay = meter.read();
      if (CoreStay::unbroken()) {
        off_core_unseen += delay;
      } else {
        ++broken;
      }
    }
  }).join();
  stop = 1;
  rival.join();
  EXPECT_GT(broken, 10);
  EXPECT_EQ(off_core_unseen, 0);
}

TEST_F(CoreStayTest, IsOfEachThreadAlone) {
  CoreStay::begin();
  bool unbroken = true;
  std::thread([&] { unbroken = CoreStay::unbroken(); }).join();
  EXPECT_FALSE(unbroken);
}

}  // namespace
}  // namespace loaderscope
