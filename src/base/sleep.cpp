#include "base/sleep.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cerrno>

#include "base/thread_meter.h"

namespace loaderscope {
namespace {

constexpr Nanos kLookEvery = 50 * kMillisecond;

void plain_sleep_until(Nanos at) {
  timespec until{};
  until.tv_sec = at / kSecond;
  until.tv_nsec = at % kSecond;
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace

void use_exact_sleeps() { ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); }

bool sleep_until(Nanos at, const std::atomic<int>* stop) {
  for (;;) {
    if (stop && stop->load(std::memory_order_relaxed) != 0) return false;
    const Nanos now = monotonic_now();
    if (now >= at) return true;
    plain_sleep_until(stop ? std::min(at, now + kLookEvery) : at);
  }
}

void Sleeper::sleep(Nanos duration) {
  const Nanos paid = std::min(owed_, duration);
  owed_ -= paid;
  if (duration == paid) return;
  const Nanos end = monotonic_now() + duration - paid;
  if (!sleep_until(end, &stop_)) return;
  owed_ += std::max<Nanos>(monotonic_now() - end, 0);
}

void burn_cpu(Nanos duration, const std::atomic<int>& stop) {
  if (duration <= 0) return;
  const Nanos end = thread_cpu_now() + duration;
  // Reading the CPU clock costs a system call: in between, look at the cheap clock only.
  while (stop.load(std::memory_order_relaxed) == 0) {
    const Nanos left = end - thread_cpu_now();
    if (left <= 0) return;
    const Nanos look_again = monotonic_now() + std::min(left, kLookEvery);
    while (monotonic_now() < look_again) {
    }
  }
}

}  // namespace loaderscope
