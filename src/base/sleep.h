// Sleeping and burning, as exactly as the kernel allows.
#pragma once

#include <atomic>

#include "loaderscope/units.h"

namespace loaderscope {

// Asks the kernel not to round this thread's sleeps up. Once per thread.
void use_exact_sleeps();

// Sleeps until `at`. With `stop`: looks at it every 50 ms and returns false as soon as it is not 0.
bool sleep_until(Nanos at, const std::atomic<int>* stop = nullptr);

// Declared sleeps of one thread: what one sleep overshoots is taken from the next, so that a
// thousand sleeps of 1 ms take one second. A long one ends early once `stop` is not 0.
class Sleeper {
 public:
  explicit Sleeper(const std::atomic<int>& stop) : stop_(stop) {}
  void sleep(Nanos duration);
  const std::atomic<int>& stop() const { return stop_; }

 private:
  const std::atomic<int>& stop_;
  Nanos owed_ = 0;  // time slept too long so far
};

// Keeps a core busy until this thread has used `duration` of CPU time, or until `stop` is not 0.
void burn_cpu(Nanos duration, const std::atomic<int>& stop);

}  // namespace loaderscope
