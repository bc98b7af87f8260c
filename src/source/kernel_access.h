// Features of the kernel and its file systems for reading files. Tests replace it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace loaderscope::source {

// A queue of system calls that the kernel executes asynchronously. Ring of one thread. The
// arguments of a call must stay valid until its answer. Throws RunError if the kernel accepts no
// more calls and none is in flight.
class Ring {
 public:
  struct Answer {
    std::uint64_t token;  // token of the call
    int result;           // result of the system call, or -errno
  };
  virtual ~Ring() = default;
  // Requires that queued calls and calls in flight do not exceed the ring's entries.
  virtual void open(const char* path, int flags, std::uint64_t token) = 0;
  virtual void read(int fd, std::span<std::byte> to, std::size_t offset, std::uint64_t token) = 0;
  virtual void submit() = 0;                 // submits queued calls
  virtual std::optional<Answer> poll() = 0;  // returns without waiting
  virtual Answer wait() = 0;                 // submits first, and waits
};

// Returns a ring of io_uring. Throws RunError if the kernel refuses.
std::unique_ptr<Ring> make_uring(unsigned entries);
// Returns why the kernel lacks a required feature, or nothing if it has all of them.
std::optional<std::string> uring_refusal();

// O_DIRECT on one file.
struct DirectReads {
  std::size_t alignment = 0;  // alignment of offsets and lengths; 0: refused
  std::string refusal;        // reason
};

// Refusals are sentences without their full stop.
class KernelAccess {
 public:
  virtual ~KernelAccess() = default;
  virtual std::optional<std::string> ring_refusal() const;
  // Throws RunError if the kernel refuses.
  virtual std::unique_ptr<Ring> make_ring(unsigned entries) const;
  // Returns whether files like this one can be read without the page cache.
  virtual DirectReads direct_reads(int fd) const;
};

const KernelAccess& this_kernel();

// Sets and clears flags of an open file. Returns false if its file system refuses.
bool change_flags(int fd, int on, int off);

}  // namespace loaderscope::source
