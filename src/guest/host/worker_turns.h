// Time between two batches of a worker. The worker hands over the batch before, and gets the next
// task from its queue. It may also wait for Python's lock, which the sending thread can hold.
#pragma once

#include <cstdint>
#include <map>

#include "loaderscope/events.h"

namespace loaderscope::guest {

class WorkerTurns {
 public:
  // Call with every step in order. Adds the time from the later of two events until the batch
  // began. The events are the end of the worker's previous batch and the arrival of the task. Adds
  // nothing if a time is missing.
  void add(const StepEvents& events);
  void merge(const WorkerTurns& other);

  std::int64_t batches() const { return batches_; }
  Nanos time() const { return time_; }

 private:
  struct Last {
    std::int32_t epoch = -1;
    Nanos finished = 0;
  };

  std::map<std::int32_t, Last> last_;  // last batch of each worker
  std::int64_t batches_ = 0;
  Nanos time_ = 0;
};

}  // namespace loaderscope::guest
