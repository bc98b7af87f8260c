// The base of queues between threads, or processes: a ring of items, and threads that wait until an
// item is there.
#pragma once

#include <memory_resource>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/native/process_mutex.h"

namespace loaderscope::native {

template <class T>
class WaitingRing {
 public:
  // Wakes all waiters. No thread receives an item from now on.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
  }

 protected:
  WaitingRing(std::size_t capacity, std::pmr::memory_resource& memory)
      : ring_(capacity + 1, &memory) {}
  ~WaitingRing() = default;

  // The following with the mutex held.
  bool is_empty() const { return head_ == tail_; }
  bool is_full() const { return next(tail_) == head_; }
  bool is_closed() const { return closed_; }
  std::size_t capacity() const { return ring_.size() - 1; }
  // Waits until an item is there, or the queue is closed.
  void wait_for_item(std::unique_lock<ProcessMutex>& lock) {
    while (is_empty() && !closed_) ready_.wait(lock);
  }
  void put(T item) {
    ring_[tail_] = std::move(item);
    tail_ = next(tail_);
  }
  T& first() { return ring_[head_]; }
  void drop_first() { head_ = next(head_); }
  void open_empty() {
    head_ = tail_;
    closed_ = false;
  }

  ProcessMutex mutex_;
  ProcessCondition ready_;

 private:
  std::size_t next(std::size_t at) const { return at + 1 == ring_.size() ? 0 : at + 1; }

  std::pmr::vector<T> ring_;
  std::size_t head_ = 0, tail_ = 0;
  bool closed_ = false;
};

}  // namespace loaderscope::native
