// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

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

}  // namespace loaderscope
