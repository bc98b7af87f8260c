// Sample tasks: batches in the order of dispatch, handed out sample by sample.
#pragma once

#include <memory_resource>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/native/batch.h"
#include "engine/native/process_lock.h"

namespace loaderscope::native {

class SampleQueue {
 public:
  explicit SampleQueue(std::size_t batches,
                       std::pmr::memory_resource& memory = *std::pmr::get_default_resource())
      : ring_(batches + 1, &memory) {}

  void push(Batch* batch) {
    {
      const std::lock_guard lock(mutex_);
      ring_[tail_] = batch;
      tail_ = next(tail_);
    }
    ready_.notify_all();
  }

  struct Task {
    Batch* batch;
    std::int64_t position;
    bool waited;
  };
  // Nothing once the queue is closed.
  std::optional<Task> pop() {
    std::unique_lock lock(mutex_);
    const bool waits = head_ == tail_ && !closed_;
    while (head_ == tail_ && !closed_) ready_.wait(lock);
    return closed_ ? std::nullopt : std::optional(take(waits));
  }
  // Nothing where nothing is there.
  std::optional<Task> try_pop() {
    const std::lock_guard lock(mutex_);
    return closed_ || head_ == tail_ ? std::nullopt : std::optional(take(false));
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
  }

  // Empty and in use again, once nobody waits for anything in it any more.
  void reopen() {
    const std::lock_guard lock(mutex_);
    head_ = tail_;
    closed_ = false;
  }

 private:
  Task take(bool waited) {
    Batch* batch = ring_[head_];
    const std::int64_t position = batch->next_sample++;
    if (batch->next_sample == batch->events.samples) head_ = next(head_);
    return {batch, position, waited};
  }
  std::size_t next(std::size_t at) const { return at + 1 == ring_.size() ? 0 : at + 1; }

  ProcessMutex mutex_;
  ProcessCondition ready_;
  std::pmr::vector<Batch*> ring_;
  std::size_t head_ = 0, tail_ = 0;
  bool closed_ = false;
};

}  // namespace loaderscope::native
