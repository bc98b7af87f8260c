// Features of the kernel and its file systems for reading files. Tests replace it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "source/ring.h"

namespace loaderscope::source {

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
