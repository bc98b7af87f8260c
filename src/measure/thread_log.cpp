#include <bit>

#include "loaderscope/recorder.h"

namespace loaderscope {

ThreadLog::ThreadLog(std::int32_t rank, std::int32_t worker, std::size_t capacity,
                     std::pmr::memory_resource& memory)
    : rank_(rank), worker_(worker), ring_(std::bit_ceil(capacity), &memory) {}

void ThreadLog::push(const Entry& entry) {
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  if (head - seen_tail_ >= ring_.size()) seen_tail_ = tail_.load(std::memory_order_acquire);
  if (head - seen_tail_ >= ring_.size()) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ring_[head & (ring_.size() - 1)] = entry;
  head_.store(head + 1, std::memory_order_release);
}

}  // namespace loaderscope
