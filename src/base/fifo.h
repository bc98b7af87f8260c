// A queue that keeps its memory. It allocates nothing once it has reached its largest size.
#pragma once

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace loaderscope {

template <class T>
class Fifo {
 public:
  explicit Fifo(std::size_t capacity = 8) : ring_(std::bit_ceil(capacity)) {}

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return ring_[(first_ + i) & (ring_.size() - 1)]; }
  const T& operator[](std::size_t i) const { return ring_[(first_ + i) & (ring_.size() - 1)]; }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[count_ - 1]; }

  T& push_back(T item) { return push_slot() = std::move(item); }
  // Adds an item with an old value, to be overwritten completely. Large items are then copied once.
  T& push_slot() {
    if (count_ == ring_.size()) grow();
    ++count_;
    return (*this)[count_ - 1];
  }
  void pop_front() {
    first_ = (first_ + 1) & (ring_.size() - 1);
    --count_;
  }

 private:
  void grow() {
    std::vector<T> larger(2 * ring_.size());
    for (std::size_t i = 0; i < count_; ++i) larger[i] = std::move((*this)[i]);
    ring_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> ring_;  // size is a power of two
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace loaderscope
