// Sleeping and burning. Machines are noisy: only what cannot be too short is exact.
#include "base/sleep.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <thread>

#include "base/thread_meter.h"
#include "unit/machine/no_stop.h"

namespace loaderscope {
namespace {

using test::kNoStop;

constexpr Nanos kHour = 3600 * kSecond;  // a test that waits for it runs into its time limit

// The number of times that this thread left its core by itself: once for each real sleep.
std::int64_t sleeps_so_far() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

// The kernel ends each sleep up to 5 ms late, and other programs end it later still. Each delay
// pays for sleeps after it.
TEST(Sleeper, TakesDelayOfOneSleepFromTheNext) {
  std::thread([] {
    ::prctl(PR_SET_TIMERSLACK, 5 * kMillisecond, 0UL, 0UL, 0UL);
    Sleeper sleeper(kNoStop);
    const Nanos begin = monotonic_now();
    const std::int64_t before = sleeps_so_far();
    for (int i = 0; i < 200; ++i) sleeper.sleep(kMillisecond);
    EXPECT_GE(monotonic_now() - begin, 200 * kMillisecond);
    EXPECT_LT(sleeps_so_far() - before, 190);
  }).join();
}

TEST(Sleeper, SkipsSleepOfZeroLength) {
  Sleeper sleeper(kNoStop);
  const std::int64_t before = sleeps_so_far();
  for (int i = 0; i < 1000; ++i) sleeper.sleep(0);
  EXPECT_LT(sleeps_so_far() - before, 1000);
}

TEST(Sleeper, EndsWhenTheRunStops) {
  std::atomic<int> stop{0};
  Sleeper sleeper(stop);
  std::thread later([&] {
    sleep_until(monotonic_now() + 20 * kMillisecond);
    stop = 1;
  });
  const Nanos begin = monotonic_now();
  sleeper.sleep(kHour);
  EXPECT_LT(monotonic_now() - begin, kHour);
  later.join();
  EXPECT_FALSE(sleep_until(monotonic_now() + kSecond, &stop));
  EXPECT_TRUE(sleep_until(monotonic_now() - 1));
}

TEST(BurnCpu, UsesWhatItIsAskedFor) {
  const Nanos begin = monotonic_now(), cpu = thread_cpu_now();
  burn_cpu(20 * kMillisecond, kNoStop);
  const Nanos used = thread_cpu_now() - cpu;
  EXPECT_GE(used, 20 * kMillisecond);
  EXPECT_LT(used, 40 * kMillisecond);
  EXPECT_GE(monotonic_now() - begin, used);
  burn_cpu(0, kNoStop);
  burn_cpu(-5, kNoStop);
}

TEST(BurnCpu, EndsWhenTheRunStops) {
  std::atomic<int> stop{0};
  std::thread later([&] {
    sleep_until(monotonic_now() + 20 * kMillisecond);
    stop = 1;
  });
  const Nanos begin = monotonic_now();
  burn_cpu(kHour, stop);
  EXPECT_LT(monotonic_now() - begin, kHour);
  later.join();
}

}  // namespace
}  // namespace loaderscope
