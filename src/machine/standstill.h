// Times in which this whole process stood still, and nothing in it could have run: it was stopped
// (SIGSTOP, a frozen container), or the machine was.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "base/time_range.h"
#include "loaderscope/units.h"

namespace loaderscope {

// What the sleeps of one thread say.
class Standstills {
 public:
  // Sleeps that end less than `shortest` late say nothing.
  explicit Standstills(Nanos shortest) : shortest_(shortest) {}

  // A sleep from `begin` to `end` that was to end at `due`. A thread that waited `queued` for a
  // core did not stand still meanwhile.
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

  // Of the time from `begin` to `end`, which is over.
  Nanos within(Nanos begin, Nanos end) const;

 private:
  void watch();

  mutable std::mutex mutex_;
  Standstills standstills_;
  std::atomic<int> stop_{0};
  std::thread thread_;
};

}  // namespace loaderscope
