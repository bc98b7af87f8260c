// What the calling thread has had the kernel read, whoever asked for it: a library that reads files
// by itself does not say.
#pragma once

#include <cstdint>
#include <optional>

#include "base/fd.h"
#include "loaderscope/units.h"

namespace loaderscope {

class ThreadIo {
 public:
  ThreadIo();  // of the thread that calls it, as all else here
  bool is_known() { return since_last() || since_last(); }

  struct Reads {
    std::int64_t calls = 0;
    Bytes bytes = 0;  // mapped files not counted
  };
  // Since the last call; nothing where this kernel does not count, or there was none yet.
  std::optional<Reads> since_last();

 private:
  Fd file_;
  std::optional<Reads> last_;
};

}  // namespace loaderscope
