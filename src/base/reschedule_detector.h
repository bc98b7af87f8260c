// Detects without a system call whether the calling thread has kept its core.
#pragma once

#include <cstdint>
#include <functional>

namespace loaderscope {

class RescheduleDetector {
 public:
  // Returns false if the kernel or the C library does not support it.
  static bool known();

  // Returns a number that stays the same while the calling thread keeps its core, without waiting
  // or making room for another thread. If that is unknown, each call returns a new number.
  static std::uint64_t number();
};

// Self-test of the facts that RescheduleDetector relies on.

// Returns true if each of ten sleeps changes the value of `number`, as a thread that sleeps leaves
// its core.
bool ends_with_sleeps(const std::function<std::uint64_t()>& number,
                      const std::function<void()>& sleep);

}  // namespace loaderscope
