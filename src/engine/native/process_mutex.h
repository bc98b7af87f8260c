// A mutex and a condition for threads of one process, or of several that share their memory. Both
// survive the death of a process. The next caller gets a lock that a killed process held, and a
// killed process that waited blocks no other.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "loaderscope/units.h"

namespace loaderscope::native {

class ProcessMutex {
 public:
  ProcessMutex();
  ~ProcessMutex() { ::pthread_mutex_destroy(&mutex_); }
  ProcessMutex(const ProcessMutex&) = delete;
  ProcessMutex& operator=(const ProcessMutex&) = delete;

  // State that a killed process left incomplete stays so: the run is about to end.
  void lock();
  void unlock();

 private:
  bool try_lock();

  // Locked only with trylock, because glibc ends the process if the kernel has no memory for a
  // wait.
  pthread_mutex_t mutex_;
  std::atomic<std::uint32_t> unlocked_{0};  // number of unlocks
  std::atomic<std::uint32_t> waiting_{0};   // lower limit of the number of waiters
};

class ProcessCondition {
 public:
  // Both give the lock back while they wait, and may return early.
  void wait(std::unique_lock<ProcessMutex>& lock);
  void wait_for(std::unique_lock<ProcessMutex>& lock, Nanos at_most);
  void notify_one();
  void notify_all();

 private:
  void sleep(std::unique_lock<ProcessMutex>& lock, const timespec* at_most);

  std::atomic<std::uint32_t> changes_{0};
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace loaderscope::native
