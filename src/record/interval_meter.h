// One piece of the calling thread's work on a batch: its time, CPU time and run-queue delay.
#pragma once

#include <algorithm>

#include "base/thread_meter.h"
#include "loaderscope/events.h"

namespace loaderscope {

class IntervalMeter {
 public:
  // Begins now, or at `there_since` if the thread slept until there was work. Run-queue delay that
  // `run_queue` has not yet reported counts as a delay of this work.
  explicit IntervalMeter(RunQueueMeter& run_queue, Nanos there_since = kNever)
      : run_queue_(run_queue), start_(monotonic_now()), cpu_(thread_cpu_now()) {
    begin_ = std::min(there_since, start_);
  }

  // Ends the piece of work. `sleeps`: it sleeps by intent, so only the time before it counts as
  // run-queue delay.
  Interval end(bool sleeps) {
    const Nanos now = monotonic_now();
    const Nanos used = std::clamp<Nanos>(thread_cpu_now() - cpu_, 0, now - begin_);
    const Nanos may_queue = sleeps ? start_ - begin_ : now - begin_ - used;
    return {begin_, now, used, run_queue_.read_at_most(may_queue)};
  }

 private:
  RunQueueMeter& run_queue_;
  Nanos start_, cpu_, begin_;
};

}  // namespace loaderscope
