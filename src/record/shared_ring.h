// A ring with one writer and one reader, which may be threads of different processes. The shared
// memory holds no pointer, so each side may map it at another address. Writing takes no lock and
// never waits; a full ring counts a loss. Corrupted shared memory never makes a side access memory
// outside the ring.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace loaderscope {

// One side's view of a ring.
template <class Entry>
class SharedRing {
 public:
  static_assert(std::is_trivially_copyable_v<Entry> && alignof(Entry) <= 64);
  static constexpr std::size_t kAlignment = 64;

  // `capacity` is a power of two.
  static constexpr std::size_t bytes_for(std::size_t capacity) {
    return sizeof(Shared) + capacity * sizeof(Entry);
  }
  // Makes a view of `memory`, which contains zeroes or a ring. Each side makes its own view, with
  // the same capacity, which is not stored where the other side could change it.
  SharedRing(void* memory, std::size_t capacity)
      : shared_(static_cast<Shared*>(memory)), capacity_(capacity) {}
  // Makes an empty ring of `memory`, which may contain anything.
  static void clear(void* memory) { new (memory) Shared; }

  void push(const Entry& entry) {
    const std::uint64_t head = shared_->head.load(std::memory_order_relaxed);
    if (head - seen_tail_ >= capacity_) seen_tail_ = shared_->tail.load(std::memory_order_acquire);
    if (head - seen_tail_ >= capacity_) {
      shared_->lost.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    entries()[head & (capacity_ - 1)] = entry;
    shared_->head.store(head + 1, std::memory_order_release);
  }

  // Visits copies of all entries that were written before the call. Frees room in batches, to spare
  // the writer's cache. Returns false if `push` did not write the content of the ring; reading
  // stops then.
  template <class Visit>
  bool take_all(const Visit& visit) {
    constexpr std::uint64_t kAtOnce = 256;
    const std::uint64_t head = shared_->head.load(std::memory_order_acquire);
    if (head - taken_ > capacity_) return false;
    while (taken_ != head) {
      const Entry entry = entries()[taken_ & (capacity_ - 1)];
      visit(entry);
      if (++taken_ % kAtOnce == 0 || taken_ == head)
        shared_->tail.store(taken_, std::memory_order_release);
    }
    return true;
  }

  // Returns the share that is written and not yet read; any number if the memory contains no ring.
  double filled() const {
    const std::uint64_t tail = shared_->tail.load(std::memory_order_relaxed);
    const std::uint64_t head = shared_->head.load(std::memory_order_acquire);
    return static_cast<double>(head - tail) / static_cast<double>(capacity_);
  }

  std::int64_t lost() const { return shared_->lost.load(std::memory_order_relaxed); }

 private:
  struct Shared {
    alignas(kAlignment) std::atomic<std::uint64_t> head{0};
    alignas(kAlignment) std::atomic<std::uint64_t> tail{0};
    alignas(kAlignment) std::atomic<std::int64_t> lost{0};
  };
  static_assert(sizeof(Shared) % kAlignment == 0);

  Entry* entries() { return reinterpret_cast<Entry*>(shared_ + 1); }

  Shared* shared_;
  std::uint64_t capacity_;
  std::uint64_t seen_tail_ = 0;  // writer only; it reads the tail only if the ring seems full
  std::uint64_t taken_ = 0;      // reader only
};

}  // namespace loaderscope
