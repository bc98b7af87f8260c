// Sleeping and burning. Machines are noisy: only what cannot be too short is exact.
#include "base/sleep.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/thread_meter.h"
#include "unit/machine/no_stop.h"

namespace loaderscope {
namespace {

using test::kNoStop;

TEST(Sleeper, CarriesWhatItSleptTooLong) {
  use_exact_sleeps();
  Nanos shortest = kSecond * 100;
  for (int attempt = 0; attempt < 3; ++attempt) {
    Sleeper sleeper(kNoStop);
    const Nanos begin = monotonic_now();
    for (int i = 0; i < 200; ++i) sleeper.sleep(kMillisecond);
    const Nanos took = monotonic_now() - begin;
    EXPECT_GE(took, 200 * kMillisecond);
    shortest = std::min(shortest, took);
    if (shortest < 220 * kMillisecond) break;
  }
  EXPECT_LT(shortest, 300 * kMillisecond);
}

TEST(Sleeper, NothingIsNothing) {
  Sleeper sleeper(kNoStop);
  const Nanos begin = monotonic_now();
  for (int i = 0; i < 1000; ++i) sleeper.sleep(0);
  EXPECT_LT(monotonic_now() - begin, kSecond);
}

TEST(Sleeper, EndsEarlyWhenTheRunIsToStop) {
  std::atomic<int> stop{0};
  Sleeper sleeper(stop);
  std::thread later([&] {
    sleep_until(monotonic_now() + 20 * kMillisecond);
    stop = 1;
  });
  const Nanos begin = monotonic_now();
  sleeper.sleep(3600 * kSecond);
  EXPECT_LT(monotonic_now() - begin, 2 * kSecond);
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

TEST(BurnCpu, EndsEarlyWhenTheRunIsToStop) {
  std::atomic<int> stop{0};
  std::thread later([&] {
    sleep_until(monotonic_now() + 20 * kMillisecond);
    stop = 1;
  });
  const Nanos begin = monotonic_now();
  burn_cpu(3600 * kSecond, stop);
  EXPECT_LT(monotonic_now() - begin, 5 * kSecond);
  later.join();
}

}  // namespace
}  // namespace loaderscope
