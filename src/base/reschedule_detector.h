// Detects without a system call whether the calling thread has kept its core.
#pragma once

#include <cstdint>

namespace loaderscope {

class RescheduleDetector {
 public:
  // Returns false if the kernel or the C library does not support it.
  static bool known();

  // Returns a number that stays the same while the calling thread keeps its core, without waiting
  // or making room for another thread. If that is unknown, each call returns a new number.
  static std::uint64_t number();
};

}  // namespace loaderscope
