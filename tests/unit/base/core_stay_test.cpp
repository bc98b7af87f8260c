// A thread that waits, or that another one takes turns with, has left its core.
#include "base/reschedule_detector.h"

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
    if (!RescheduleDetector::known())
      GTEST_SKIP() << "neither the kernel nor the C library reports it";
  }
};

// Linux 6.19 keeps the sequence of a thread that sleeps: its sleeps would count as CPU time.
TEST(CoreStayCheck, RejectsAKernelThatKeepsTheSequenceThroughASleep) {
  std::uint64_t number = 7;
  int sleeps = 0;
  EXPECT_FALSE(ends_with_sleeps([&] { return number; }, [&] { ++sleeps; }));
  // One sleep of ten that goes unseen is enough.
  EXPECT_FALSE(
      ends_with_sleeps([&] { return number; }, [&] { number += ++sleeps == 5 ? 0U : 1U; }));
  sleeps = 0;
  EXPECT_TRUE(ends_with_sleeps([&] { return number; },
                               [&] {
                                 ++sleeps;
                                 ++number;
                               }));
  EXPECT_EQ(sleeps, 10);
}

TEST_F(CoreStayTest, EndsWithASleep) {
  const std::uint64_t first = RescheduleDetector::number();
  sleep_until(monotonic_now() + 2 * kMillisecond);
  const std::uint64_t second = RescheduleDetector::number();
  EXPECT_NE(second, first);
  sleep_until(monotonic_now() + 2 * kMillisecond);
  EXPECT_NE(RescheduleDetector::number(), second);
}

TEST_F(CoreStayTest, LastsWhileAThreadOnlyComputes) {
  int unbroken = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t stay = RescheduleDetector::number();
    burn_cpu(2 * kMicrosecond, kNoStop);
    unbroken += RescheduleDetector::number() == stay ? 1 : 0;
  }
  EXPECT_GT(unbroken, 500);
}

// CPU times need this promise: a stay never keeps its number if the thread left its core meanwhile.
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
      const std::uint64_t stay = RescheduleDetector::number();
      meter.read();
      burn_cpu(kMillisecond, kNoStop);
      const Nanos delay = meter.read();
      if (RescheduleDetector::number() == stay) {
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

TEST_F(CoreStayTest, CountsEachThreadAlone) {
  const std::uint64_t stay = RescheduleDetector::number();
  std::thread([] {
    RescheduleDetector::number();
    sleep_until(monotonic_now() + 2 * kMillisecond);
    RescheduleDetector::number();
  }).join();
  EXPECT_LE(RescheduleDetector::number(), stay + 1);  // join() may have waited
}

// Two meters of one thread each see the sleep.
TEST_F(CoreStayTest, EndsForEveryMeterOfThread) {
  RunQueueMeter one, other;
  CpuMeter cpu;
  one.read_if_it_left();
  other.read_if_it_left();
  const Nanos before = cpu.read().cpu;
  const CpuMeter::Reading slept_from = cpu.read();
  sleep_until(monotonic_now() + 2 * kMillisecond);
  one.read_if_it_left();
  other.read_if_it_left();
  const CpuMeter::Reading slept_to = cpu.read();
  EXPECT_GE(slept_from.cpu, before);
  EXPECT_LT(slept_to.cpu - slept_from.cpu, (slept_to.at - slept_from.at) / 2);
}

}  // namespace
}  // namespace loaderscope
