// A file descriptor that closes itself, and reading from one.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <span>
#include <utility>

#include "loaderscope/units.h"

namespace loaderscope {

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  operator int() const { return fd_; }  // NOLINT: reads like the number

 private:
  int fd_;
};

struct ReadAt {
  std::size_t bytes = 0;  // fewer than requested at the end of the file, or with an error
  int error = 0;          // errno
};
// Fills `to` from `offset` on, with as many calls as needed.
ReadAt read_at(int fd, Bytes offset, std::span<std::byte> to);

}  // namespace loaderscope
