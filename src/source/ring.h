// A queue of system calls that the kernel works off meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace loaderscope::source {

// Of one thread. What a call points to must stay where it is until the call is answered. Throws
// RunError when the kernel takes no calls any more and none is under way.
class Ring {
 public:
  struct Answer {
    std::uint64_t token;  // of the call
    int result;           // what the system call returned, or -errno
  };
  virtual ~Ring() = default;
  // No more calls than the ring has entries may be queued or under way.
  virtual void open(const char* path, int flags, std::uint64_t token) = 0;
  virtual void read(int fd, std::span<std::byte> to, std::size_t offset, std::uint64_t token) = 0;
  virtual void submit() = 0;                 // what was queued since
  virtual std::optional<Answer> poll() = 0;  // does not wait
  virtual Answer wait() = 0;                 // submits first
};

// By io_uring; throws RunError where the kernel refuses.
std::unique_ptr<Ring> make_uring(unsigned entries);
// Nothing where the kernel has all that is needed.
std::optional<std::string> uring_refusal();

}  // namespace loaderscope::source
