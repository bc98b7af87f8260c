// Whether the calling thread has kept its core: what the scheduler would have to be asked for by a
// system call is then known without one.
#pragma once

#include <cstdint>

namespace loaderscope {

class RescheduleDetector {
 public:
  // False where the kernel or the C library does not tell.
  static bool known();

  // Of the calling thread: as long as it keeps its core, to neither wait nor make room for another
  // thread, the number is the same. Where that is not known it is another one each time.
  static std::uint64_t number();
};

}  // namespace loaderscope
