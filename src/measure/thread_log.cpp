#include <bit>

#include "loaderscope/recorder.h"

namespace loaderscope {

ThreadLog::ThreadLog(std::int32_t rank, std::int32_t worker, std::size_t capacity)
    : rank_(rank), worker_(worker), ring_(std::bit_ceil(capacity)) {}

void ThreadLog::push(const Entry& entry) {
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  if (head - tail_.load(std::memory_order_acquire) >= ring_.size()) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ring_[head & (ring_.size() - 1)] = entry;
  head_.store(head + 1, std::memory_order_release);
}

bool ThreadLog::pop(Entry& entry) {
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  if (tail == head_.load(std::memory_order_acquire)) return false;
  entry = ring_[tail & (ring_.size() - 1)];
  tail_.store(tail + 1, std::memory_order_release);
  return true;
}

}  // namespace loaderscope
