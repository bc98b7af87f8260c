// Reads of the calling thread, as the kernel counts them. They include reads by libraries, which do
// not report them.
#pragma once

#include <cstdint>
#include <optional>

#include "base/fd.h"
#include "loaderscope/units.h"

namespace loaderscope {

class ThreadIo {
 public:
  ThreadIo();  // belongs to the calling thread, which alone may use it
  bool is_known() { return since_last() || since_last(); }

  struct Reads {
    std::int64_t calls = 0;
    Bytes bytes = 0;  // bytes, mapped files excluded
  };
  // Returns the reads since the last call. Empty on the first call, and if the kernel does not
  // count.
  std::optional<Reads> since_last();

 private:
  Fd file_;
  std::optional<Reads> last_;
};

}  // namespace loaderscope
