#include "guest/host/worker_turns.h"

#include <algorithm>
#include <utility>

namespace loaderscope::guest {

void WorkerTurns::add(const StepEvents& events) {
  if (events.made_by_trainer || events.begun == 0 || events.finished == 0 || events.dispatched == 0)
    return;
  Last& entry = last_[events.worker];
  const Last before = std::exchange(entry, {events.epoch, events.finished});
  const bool is_first = before.epoch != events.epoch || before.finished > events.begun;
  const Nanos free = is_first ? events.begun - events.worker_idle : before.finished;
  if (events.warmup) return;
  ++batches_;
  time_ += std::max<Nanos>(events.begun - std::max(free, events.dispatched), 0);
}

void WorkerTurns::merge(const WorkerTurns& other) {
  batches_ += other.batches_;
  time_ += other.time_;
}

}  // namespace loaderscope::guest
