// A ring with one writer and one reader, which may be threads of different processes: it holds no
// pointer, so each side may see it at another address. Writing takes no lock and never waits; a
// full ring counts a loss.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace loaderscope {

template <class Entry>
class SharedRing {
 public:
  static_assert(std::is_trivially_copyable_v<Entry> && alignof(Entry) <= 64);
  static constexpr std::size_t kAlignment = 64;

  // What `make` needs; `capacity` is a power of two.
  static std::size_t bytes_for(std::size_t capacity) {
    return sizeof(SharedRing) + capacity * sizeof(Entry);
  }
  static SharedRing* make(void* memory, std::size_t capacity) {
    return new (memory) SharedRing(capacity);
  }

  void push(const Entry& entry) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - seen_tail_ >= capacity_) seen_tail_ = tail_.load(std::memory_order_acquire);
    if (head - seen_tail_ >= capacity_) {
      lost_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    entries()[head & (capacity_ - 1)] = entry;
    head_.store(head + 1, std::memory_order_release);
  }

  // What was written before the call. Room is given back now and then, so that the writer's cache
  // is left alone.
  template <class Visit>
  void take_all(const Visit& visit) {
    constexpr std::uint64_t kAtOnce = 256;
    std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t head = head_.load(std::memory_order_acquire);
    while (tail != head) {
      visit(entries()[tail & (capacity_ - 1)]);
      if (++tail % kAtOnce == 0 || tail == head) tail_.store(tail, std::memory_order_release);
    }
  }

  std::int64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  explicit SharedRing(std::size_t capacity) : capacity_(capacity) {}
  Entry* entries() { return reinterpret_cast<Entry*>(this + 1); }

  std::uint64_t capacity_;
  alignas(kAlignment) std::atomic<std::uint64_t> head_{0};
  std::uint64_t seen_tail_ = 0;  // of the writer: it looks at tail_ only when the ring seems full
  alignas(kAlignment) std::atomic<std::uint64_t> tail_{0};
  alignas(kAlignment) std::atomic<std::int64_t> lost_{0};
};

}  // namespace loaderscope
