// A mutex and a condition for threads of one process, and of several that share the memory they lie
// in. They outlive a process that is killed: a lock that it held is given to the next who asks, and
// nobody waits for one that waited.
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

  // What a killed process left half done stays so: the run is about to end.
  void lock();
  void unlock();

 private:
  bool try_lock();

  // It is never waited for: glibc ends the process where the kernel has no memory to let it wait.
  pthread_mutex_t mutex_;
  std::atomic<std::uint32_t> unlocked_{0};  // how often
  std::atomic<std::uint32_t> waiting_{0};   // at least so many
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
