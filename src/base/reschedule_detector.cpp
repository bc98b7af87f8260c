// Kernels before Linux 6.19 clear the pointer to a thread's restartable sequence whenever they
// schedule the thread back in while it runs outside of that sequence. A sequence that is never run
// therefore is a flag that the kernel takes down. Later kernels do so only after an interruption in
// user mode or on another core, and leave it up through a sleep; so it is tried before it is used.
#include "base/reschedule_detector.h"

#include <time.h>

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#define LOADERSCOPE_HAS_RSEQ 1
#endif

namespace loaderscope {

#ifdef LOADERSCOPE_HAS_RSEQ
namespace {

// Signature that the kernel requires in front of the abort address of a sequence, before it checks
// whether the thread is inside. No thread ever runs at either address.
struct NeverRun {
  std::uint32_t signature = RSEQ_SIG;
  std::array<std::uint8_t, 28> nothing{};
};
alignas(32) constexpr NeverRun kNeverRun;

const struct rseq_cs kSequence = {
    .version = 0,
    .flags = 0,
    .start_ip = reinterpret_cast<std::uintptr_t>(&kNeverRun.nothing[16]),
    .post_commit_offset = 1,
    .abort_ip = reinterpret_cast<std::uintptr_t>(&kNeverRun.nothing[0]),
};

auto& current_sequence() {
  std::byte* thread = nullptr;
  asm("mov %%fs:0, %0" : "=r"(thread));
  auto* area = reinterpret_cast<struct rseq*>(thread + __rseq_offset);
  return area->rseq_cs;
}

// A thread has only one sequence. A caller that finds it cleared begins the next stay for all
// callers.
std::uint64_t update_stay(std::uint64_t& stay) {
  constexpr auto kOurs = &kSequence;
  auto& current = current_sequence();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (__atomic_load_n(&current, __ATOMIC_RELAXED) != reinterpret_cast<std::uintptr_t>(kOurs)) {
    ++stay;
    __atomic_store_n(&current, reinterpret_cast<std::uintptr_t>(kOurs), __ATOMIC_RELAXED);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  return stay;
}

void sleep_shortly() {
  constexpr timespec kLength{0, 50'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &kLength, nullptr);
}

bool kernel_reports_sleeps() {
  std::uint64_t stay = 0;
  return ends_with_sleeps([&] { return update_stay(stay); }, sleep_shortly);
}

}  // namespace

// The size is 0 if the kernel refused, or if the user switched it off (glibc.pthread.rseq).
bool RescheduleDetector::known() {
  static const bool known = __rseq_size != 0 && kernel_reports_sleeps();
  return known;
}

std::uint64_t RescheduleDetector::number() {
  thread_local std::uint64_t stay = 0;
  return known() ? update_stay(stay) : ++stay;
}

#else

bool RescheduleDetector::known() { return false; }
std::uint64_t RescheduleDetector::number() {
  thread_local std::uint64_t stay = 0;
  return ++stay;
}

#endif

bool ends_with_sleeps(const std::function<std::uint64_t()>& number,
                      const std::function<void()>& sleep) {
  constexpr int kTimes = 10;
  for (int i = 0; i < kTimes; ++i) {
    const std::uint64_t before = number();
    sleep();
    if (number() == before) return false;
  }
  return true;
}

}  // namespace loaderscope
