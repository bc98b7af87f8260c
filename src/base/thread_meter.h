// What one thread has used so far: time, CPU time, and time in the run queue.
#pragma once

#include "loaderscope/units.h"

namespace loaderscope {

// Now, on the clock that all processes and languages share.
Nanos monotonic_now();
// CPU time of the calling thread.
Nanos thread_cpu_now();

// Reads the run-queue delay of the thread that made it. Not known on kernels without schedstat.
class RunQueueMeter {
 public:
  RunQueueMeter();
  ~RunQueueMeter();
  RunQueueMeter(const RunQueueMeter&) = delete;
  RunQueueMeter& operator=(const RunQueueMeter&) = delete;

  bool known() const { return descriptor_ >= 0; }
  // The delay since the last call, 0 when not known. From the thread that made the meter.
  Nanos read();
  // Likewise; what it is more than `most` was at another time.
  Nanos read_at_most(Nanos most);

 private:
  Nanos total() const;

  int descriptor_ = -1;
  Nanos last_ = 0;
};

}  // namespace loaderscope
