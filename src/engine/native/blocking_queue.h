// A queue between threads, or processes, with room for all that can ever be in it: pushing never
// waits.
#pragma once

#include <memory_resource>
#include <mutex>
#include <optional>
#include <vector>

#include "base/thread_meter.h"
#include "engine/native/process_lock.h"
#include "loaderscope/run_record.h"
#include "trace/trace.h"

namespace loaderscope::native {

template <class T>
class BlockingQueue {
 public:
  // `depth` shows how full it is, where it is not null; it must outlive the queue.
  explicit BlockingQueue(std::size_t capacity,
                         std::pmr::memory_resource& memory = *std::pmr::get_default_resource(),
                         const trace::Counter* depth = nullptr)
      : ring_(capacity + 1, &memory), depth_(depth) {}

  void push(T item) {
    {
      const std::lock_guard lock(mutex_);
      put(std::move(item));
    }
    ready_.notify_one();
  }

  // For a queue that may be full: false when it is.
  bool try_push(const T& item) {
    {
      const std::lock_guard lock(mutex_);
      if (next(tail_) == head_) return false;
      put(item);
    }
    ready_.notify_one();
    return true;
  }

  // Nothing where it is empty, closed or not.
  std::optional<T> try_pop() {
    const std::lock_guard lock(mutex_);
    if (head_ == tail_) return std::nullopt;
    return take_front();
  }

  // What comes next, if anything is there.
  std::optional<T> front() {
    const std::lock_guard lock(mutex_);
    return head_ == tail_ ? std::nullopt : std::optional<T>(ring_[head_]);
  }

  struct Popped {
    T item;
    bool waited;  // the queue was empty
  };
  // Waits for an item. Nothing once the queue is closed, whatever is left in it.
  std::optional<Popped> pop() {
    std::unique_lock lock(mutex_);
    const bool waits = head_ == tail_ && !closed_;
    if (waits) {
      const Nanos since = monotonic_now();
      while (head_ == tail_ && !closed_) ready_.wait(lock);
      get_wait_ += monotonic_now() - since;
    }
    if (closed_) return std::nullopt;
    return Popped{take_front(), waits};
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
    while (head_ != tail_) take_front();
    closed_ = false;
  }

  // How full it was since the last reading.
  QueueStats read_stats(std::string name) {
    const std::lock_guard lock(mutex_);
    count(0);
    QueueStats stats;
    stats.name = std::move(name);
    stats.capacity = static_cast<std::int64_t>(ring_.size()) - 1;
    const Nanos period = counted_until_ - counted_since_;
    stats.mean_occupancy = period > 0 ? occupied_time_ / static_cast<double>(period) : 0;
    stats.max_occupancy = most_;
    stats.get_wait = get_wait_;
    counted_since_ = counted_until_;
    occupied_time_ = 0;
    most_ = occupancy_;
    get_wait_ = 0;
    return stats;
  }

 private:
  std::size_t next(std::size_t at) const { return at + 1 == ring_.size() ? 0 : at + 1; }

  void put(T item) {
    count(1);
    ring_[tail_] = std::move(item);
    tail_ = next(tail_);
  }

  T take_front() {
    count(-1);
    T item = std::move(ring_[head_]);
    head_ = next(head_);
    return item;
  }

  void count(std::int64_t change) {
    const Nanos now = monotonic_now();
    occupied_time_ += static_cast<double>(occupancy_) * static_cast<double>(now - counted_until_);
    counted_until_ = now;
    occupancy_ += change;
    if (occupancy_ > most_) most_ = occupancy_;
    if (depth_ != nullptr) depth_->sample(occupancy_);
  }

  ProcessMutex mutex_;
  ProcessCondition ready_;
  std::pmr::vector<T> ring_;
  const trace::Counter* depth_;
  std::size_t head_ = 0, tail_ = 0;
  bool closed_ = false;

  Nanos counted_until_ = monotonic_now(), counted_since_ = counted_until_;
  std::int64_t occupancy_ = 0, most_ = 0;
  double occupied_time_ = 0;  // items x ns
  Nanos get_wait_ = 0;
};

}  // namespace loaderscope::native
