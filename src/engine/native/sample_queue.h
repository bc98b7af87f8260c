// Sample tasks: batches in the order of dispatch, handed out sample by sample.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/native/batch.h"

namespace loaderscope::native {

class SampleQueue {
 public:
  explicit SampleQueue(std::size_t batches) : ring_(batches + 1) {}

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
    ready_.wait(lock, [&] { return head_ != tail_ || closed_; });
    if (closed_) return std::nullopt;
    Batch* batch = ring_[head_];
    const std::int64_t position = batch->next_sample++;
    if (batch->next_sample == batch->events.samples) head_ = next(head_);
    return Task{batch, position, waits};
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
  }

 private:
  std::size_t next(std::size_t at) const { return at + 1 == ring_.size() ? 0 : at + 1; }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<Batch*> ring_;
  std::size_t head_ = 0, tail_ = 0;
  bool closed_ = false;
};

}  // namespace loaderscope::native
