// Sample tasks: batches in the order of dispatch, handed out sample by sample.
#pragma once

#include <memory_resource>
#include <mutex>
#include <optional>

#include "engine/native/batch.h"
#include "engine/native/waiting_ring.h"

namespace loaderscope::native {

class SampleQueue : public WaitingRing<Batch*> {
 public:
  explicit SampleQueue(std::size_t batches,
                       std::pmr::memory_resource& memory = *std::pmr::get_default_resource())
      : WaitingRing(batches, memory) {}

  void push(Batch* batch) {
    {
      const std::lock_guard lock(mutex_);
      put(batch);
    }
    ready_.notify_all();
  }

  struct Task {
    Batch* batch;
    std::int64_t position;
    bool waited;
  };
  // Returns nothing once the queue is closed.
  std::optional<Task> pop() {
    std::unique_lock lock(mutex_);
    const bool waits = is_empty() && !is_closed();
    wait_for_item(lock);
    return is_closed() ? std::nullopt : std::optional(take(waits));
  }
  // Returns nothing if the queue is closed or empty.
  std::optional<Task> try_pop() {
    const std::lock_guard lock(mutex_);
    return is_closed() || is_empty() ? std::nullopt : std::optional(take(false));
  }

  // Empties and reopens the queue. Requires that no thread waits in it.
  void reopen() {
    const std::lock_guard lock(mutex_);
    open_empty();
  }

 private:
  Task take(bool waited) {
    Batch* batch = first();
    const std::int64_t position = batch->next_sample++;
    if (batch->next_sample == batch->events.samples) drop_first();
    return {batch, position, waited};
  }
};

}  // namespace loaderscope::native
