// Sleeping and using CPU time, as exactly as the kernel allows.
#pragma once

#include <atomic>

#include "loaderscope/units.h"

namespace loaderscope {

// Asks the kernel not to round up the sleeps of this thread. Call it once per thread.
void use_exact_sleeps();

// Sleeps until `at`. With `stop`, polls it every 50 ms and returns false as soon as it is not 0.
bool sleep_until(Nanos at, const std::atomic<int>* stop = nullptr);

// Declared sleeps of one thread. Excess time of one sleep is subtracted from the next, so that a
// thousand sleeps of 1 ms take one second. A long sleep ends early once `stop` is not 0.
class Sleeper {
 public:
  explicit Sleeper(const std::atomic<int>& stop) : stop_(stop) {}
  void sleep(Nanos duration);
  const std::atomic<int>& stop() const { return stop_; }

 private:
  const std::atomic<int>& stop_;
  Nanos owed_ = 0;  // excess time slept so far
};

// Keeps a core busy until this thread has used `duration` of CPU time, or until `stop` is not 0.
void burn_cpu(Nanos duration, const std::atomic<int>& stop);

}  // namespace loaderscope
