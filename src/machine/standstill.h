// Times in which this whole process could not run: it was stopped (SIGSTOP, a frozen container), or
// the machine was.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "base/time_range.h"
#include "loaderscope/units.h"

namespace loaderscope {

// The standstills that the sleeps of one thread show.
class Standstills {
 public:
  // Sleeps that end less than `shortest` late say nothing.
  explicit Standstills(Nanos shortest) : shortest_(shortest) {}

  // Adds a sleep from `begin` to `end` that was due at `due`. Time in `queued`, which the thread
  // waited for a core, does not count.
  void note_sleep(Nanos begin, Nanos due, Nanos end, Nanos queued);
  Nanos within(Nanos begin, Nanos end) const;

 private:
  Nanos shortest_;
  std::vector<TimeRange> ranges_;
};

// A thread that does nothing but sleep, and notes when it could not.
class StandstillWatch {
 public:
  StandstillWatch();
  ~StandstillWatch();

  // Requires that `end` is over.
  Nanos within(Nanos begin, Nanos end) const;

 private:
  void watch();

  mutable std::mutex mutex_;
  Standstills standstills_;
  std::atomic<int> stop_{0};
  std::thread thread_;
};

}  // namespace loaderscope
