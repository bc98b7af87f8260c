// Time, CPU time and run-queue delay of one thread.
#pragma once

#include <cstdint>

#include "base/reschedule_detector.h"
#include "loaderscope/units.h"

namespace loaderscope {

// Returns the time of the clock that all processes and languages share.
Nanos monotonic_now();
// Returns the CPU time of the calling thread.
Nanos thread_cpu_now();

// Reads the CPU time of the thread that made it. A reading needs a system call, unless the thread
// has kept its core since the last one. No system call follows the reading of the time, as a thread
// loses its core mostly at the end of a system call.
class CpuMeter {
 public:
  struct Reading {
    Nanos at = 0;
    Nanos cpu = 0;
  };
  Reading read() {
    const Nanos now = monotonic_now(), since = now - last_.at;
    if (RescheduleDetector::known() ? since < kTrusted && RescheduleDetector::number() == stay_
                                    : since < kRightAfter)
      return {now, last_.cpu + since};
    return read_uncached();
  }

 private:
  Reading read_uncached();

  static constexpr Nanos kTrusted = kMillisecond;  // CPU time excludes time stolen by a hypervisor
  static constexpr Nanos kRightAfter = 5 * kMicrosecond;
  static constexpr Nanos kLongAgo = -kSecond;

  Reading last_{kLongAgo, 0};
  std::uint64_t stay_ = 0;
};

// Reads the run-queue delay of the thread that made it. Unknown on kernels without schedstat.
class RunQueueMeter {
 public:
  RunQueueMeter();
  ~RunQueueMeter();
  RunQueueMeter(const RunQueueMeter&) = delete;
  RunQueueMeter& operator=(const RunQueueMeter&) = delete;

  bool known() const { return descriptor_ >= 0; }
  int why_not() const { return error_; }  // errno; 0 if the delay is known
  // Returns the delay since the last call; 0 if unknown. Only the thread that made the meter may
  // call it.
  Nanos read();
  // Returns the same; 0, without a system call, for a thread that kept its core.
  Nanos read_if_it_left();
  // Returns the same, at most `most`. The excess belongs to another time and is dropped.
  Nanos read_at_most(Nanos most);

 private:
  Nanos total() const;

  int descriptor_ = -1, error_ = 0;
  Nanos last_ = 0;
  std::uint64_t stay_ = 0;
};

// The run-queue delay of a thread over all of its life. Returns the delay of the calling thread
// since it began, or 0 on kernels without schedstat.
Nanos run_queue_delay_of_thread();

}  // namespace loaderscope
