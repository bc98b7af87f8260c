#include "engine/native/process_mutex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <new>

namespace loaderscope::native {
namespace {

// Works without FUTEX_PRIVATE_FLAG, because the other side may be another process. Callers poll
// again after every error, as a caller that cannot sleep is awake.
void call_futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
                const timespec* timeout) {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  ::syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

ProcessMutex::ProcessMutex() {
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  const int error = ::pthread_mutex_init(&mutex_, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
  if (error != 0) throw std::bad_alloc();
}

bool ProcessMutex::try_lock() {
  const int error = ::pthread_mutex_trylock(&mutex_);
  if (error == EOWNERDEAD) ::pthread_mutex_consistent(&mutex_);
  return error == 0 || error == EOWNERDEAD;
}

void ProcessMutex::lock() {
  if (try_lock()) return;
  constexpr timespec kLookAgainAfter{
      0, 10 * kMillisecond};  // the lock of a killed process wakes no waiter
  waiting_.fetch_add(1);
  for (;;) {
    const std::uint32_t seen = unlocked_.load();
    if (try_lock()) break;
    call_futex(unlocked_, FUTEX_WAIT, seen, &kLookAgainAfter);
  }
  waiting_.fetch_sub(1);
}

void ProcessMutex::unlock() {
  ::pthread_mutex_unlock(&mutex_);
  unlocked_.fetch_add(1);
  if (waiting_.load() > 0) call_futex(unlocked_, FUTEX_WAKE, 1, nullptr);
}

// Looks again now and then: a call that should have woken it may have failed.
void ProcessCondition::wait(std::unique_lock<ProcessMutex>& lock) { wait_for(lock, kSecond); }

void ProcessCondition::wait_for(std::unique_lock<ProcessMutex>& lock, Nanos at_most) {
  timespec time{};
  time.tv_sec = at_most / kSecond;
  time.tv_nsec = at_most % kSecond;
  sleep(lock, &time);
}

void ProcessCondition::sleep(std::unique_lock<ProcessMutex>& lock, const timespec* at_most) {
  const std::uint32_t seen = changes_.load();
  lock.unlock();
  call_futex(changes_, FUTEX_WAIT, seen, at_most);
  lock.lock();
}

void ProcessCondition::notify_one() {
  changes_.fetch_add(1);
  call_futex(changes_, FUTEX_WAKE, 1, nullptr);
}

void ProcessCondition::notify_all() {
  changes_.fetch_add(1);
  call_futex(changes_, FUTEX_WAKE, INT_MAX, nullptr);
}

}  // namespace loaderscope::native
