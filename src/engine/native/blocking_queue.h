// A queue between threads, or processes, with room for all that can ever be in it: pushing never
// waits.
#pragma once

#include <memory_resource>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_meter.h"
#include "engine/native/process_mutex.h"
#include "engine/pipeline/queue_occupancy.h"
#include "nvtx/ranges.h"

namespace loaderscope::native {

// The base of queues between threads, or processes: a ring of items, and threads that wait until an
// item is there.
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

template <class T>
class BlockingQueue : public WaitingRing<T> {
 public:
  // `depth` shows how full it is, where it is not null; it must outlive the queue.
  explicit BlockingQueue(std::size_t capacity,
                         std::pmr::memory_resource& memory = *std::pmr::get_default_resource(),
                         const nvtx::Counter* depth = nullptr)
      : WaitingRing<T>(capacity, memory), depth_(depth) {}

  void push(T item) {
    {
      const std::lock_guard lock(mutex_);
      put_last(std::move(item));
    }
    ready_.notify_one();
  }

  // Returns false if the queue is full.
  bool try_push(const T& item) {
    {
      const std::lock_guard lock(mutex_);
      if (this->is_full()) return false;
      put_last(item);
    }
    ready_.notify_one();
    return true;
  }

  // Returns nothing if the queue is empty, closed or not.
  std::optional<T> try_pop() {
    const std::lock_guard lock(mutex_);
    if (this->is_empty()) return std::nullopt;
    return take_first();
  }

  // Returns a copy of the next item, if there is one.
  std::optional<T> front() {
    const std::lock_guard lock(mutex_);
    return this->is_empty() ? std::nullopt : std::optional<T>(this->first());
  }

  struct Popped {
    T item;
    bool waited;  // the queue was empty
  };
  // Waits for an item. Nothing once the queue is closed, whatever is left in it.
  std::optional<Popped> pop() {
    std::unique_lock lock(mutex_);
    const bool waits = this->is_empty() && !this->is_closed();
    if (waits) {
      const Nanos since = monotonic_now();
      this->wait_for_item(lock);
      get_wait_ += monotonic_now() - since;
    }
    if (this->is_closed()) return std::nullopt;
    return Popped{take_first(), waits};
  }

  // Empties and reopens the queue. Requires that no thread waits in it.
  void reopen() {
    const std::lock_guard lock(mutex_);
    if (!this->is_empty()) count(-occupancy_.items());
    this->open_empty();
  }

  // Returns the occupancy since the last reading.
  QueueStats read_stats(std::string name) {
    const std::lock_guard lock(mutex_);
    const auto capacity = static_cast<std::int64_t>(this->capacity());
    QueueStats stats = occupancy_.read(std::move(name), capacity, monotonic_now());
    stats.get_wait = std::exchange(get_wait_, 0);
    return stats;
  }

 private:
  using WaitingRing<T>::mutex_;
  using WaitingRing<T>::ready_;

  void put_last(T item) {
    count(1);
    this->put(std::move(item));
  }

  T take_first() {
    count(-1);
    T item = std::move(this->first());
    this->drop_first();
    return item;
  }

  void count(std::int64_t change) {
    occupancy_.add(change, monotonic_now());
    if (depth_ != nullptr) depth_->sample(occupancy_.items());
  }

  const nvtx::Counter* depth_;
  QueueOccupancy occupancy_{monotonic_now()};
  Nanos get_wait_ = 0;
};

}  // namespace loaderscope::native
