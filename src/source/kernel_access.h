// What the kernel and its file systems offer for reading files; tests hand in another.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "source/ring.h"

namespace loaderscope::source {

// O_DIRECT on one file.
struct DirectReads {
  std::size_t alignment = 0;  // of offsets and lengths; 0: refused
  std::string refusal;        // why
};

// Refusals are sentences without their full stop.
class KernelAccess {
 public:
  virtual ~KernelAccess() = default;
  virtual std::optional<std::string> ring_refusal() const;
  // Throws RunError where the kernel refuses.
  virtual std::unique_ptr<Ring> make_ring(unsigned entries) const;
  // Whether files like this one can be read past the page cache.
  virtual DirectReads direct_reads(int fd) const;
};

const KernelAccess& this_kernel();

// Turns flags of an open file on and off; false where its file system refuses.
bool change_flags(int fd, int on, int off);

}  // namespace loaderscope::source
