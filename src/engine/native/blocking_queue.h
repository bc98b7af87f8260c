// A queue between threads with room for all that can ever be in it: pushing never waits.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "loaderscope/run_record.h"
#include "measure/thread_meter.h"
#include "trace/trace.h"

namespace loaderscope::native {

template <class T>
class BlockingQueue {
 public:
  explicit BlockingQueue(std::size_t capacity, const trace::Counter& depth = {})
      : ring_(capacity + 1), depth_(depth) {}

  void push(T item) {
    {
      const std::lock_guard lock(mutex_);
      count(1);
      ring_[tail_] = std::move(item);
      tail_ = next(tail_);
    }
    ready_.notify_one();
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
      ready_.wait(lock, [&] { return head_ != tail_ || closed_; });
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
    depth_.sample(occupancy_);
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<T> ring_;
  trace::Counter depth_;
  std::size_t head_ = 0, tail_ = 0;
  bool closed_ = false;

  Nanos counted_until_ = monotonic_now(), counted_since_ = counted_until_;
  std::int64_t occupancy_ = 0, most_ = 0;
  double occupied_time_ = 0;  // items x ns
  Nanos get_wait_ = 0;
};

}  // namespace loaderscope::native
