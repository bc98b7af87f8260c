#include "base/fd.h"

#include <cerrno>

namespace loaderscope {

ReadAt read_at(int fd, Bytes offset, std::span<std::byte> to) {
  ReadAt read;
  while (read.bytes < to.size()) {
    const ssize_t got = ::pread(fd, to.data() + read.bytes, to.size() - read.bytes,
                                offset + static_cast<Bytes>(read.bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) read.error = errno;
    if (got <= 0) break;
    read.bytes += static_cast<std::size_t>(got);
  }
  return read;
}

}  // namespace loaderscope
