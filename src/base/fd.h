// File descriptors that close themselves, and the kind of a file at a path.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
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

// Kind of the file at a path that should be a regular file. A pipe might never begin, a device
// never end.

// Returns "a folder", "a pipe", "a device" or "a socket"; "" for a regular file or a missing path.
std::string_view non_file_kind(const std::string& path);

// Returns the readable part of a file. Files of /proc may end early, as their processes may end.
std::string readable_text(const std::string& path);

}  // namespace loaderscope
