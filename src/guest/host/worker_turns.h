// How long workers take to turn to a batch: they hand on the one before, ask their queue for the
// task, and wait for Python's lock, which the thread that sends the batch before may have.
#pragma once

#include <cstdint>
#include <map>

#include "loaderscope/events.h"

namespace loaderscope::guest {

class WorkerTurns {
 public:
  // Call with every step in its order. Adds the time from when its worker had finished the batch
  // before and had this task, until it began. A step of which a time is missing adds nothing.
  void add(const StepEvents& events);
  void merge(const WorkerTurns& other);

  std::int64_t batches() const { return batches_; }
  Nanos time() const { return time_; }

 private:
  struct Last {
    std::int32_t epoch = -1;
    Nanos finished = 0;
  };

  std::map<std::int32_t, Last> last_;  // batch, by worker
  std::int64_t batches_ = 0;
  Nanos time_ = 0;
};

}  // namespace loaderscope::guest
