// Readers of an extent's bytes, one for each access method.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "loaderscope/source.h"
#include "source/extent_opener.h"

namespace loaderscope::source {

inline constexpr Bytes kMaxReadAhead = Bytes{16} << 20;  // limit of one reader
inline constexpr std::size_t kPage = 4096;               // alignment of read buffers

std::unique_ptr<SampleReader> make_pread_reader(const Access& access);
std::unique_ptr<SampleReader> make_mmap_reader(const Access& access);
std::unique_ptr<SampleReader> make_direct_reader(const Access& access);
std::unique_ptr<SampleReader> make_ring_reader(const Access& access);
std::unique_ptr<SampleReader> make_direct_ring_reader(const Access& access);
std::unique_ptr<SampleReader> make_http_reader(const Access& access);

// A growing buffer, aligned to pages. Contents are not preserved by take(). Its memory is kept
// until its reader is destroyed.
class SampleBuffer {
 public:
  std::span<std::byte> take(std::size_t bytes);

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  std::size_t size_ = 0;
};

// Copies out of mapped files, which another program may truncate at any time.

// Returns the number of bytes copied. A plain copy of the others would end the process by SIGBUS.
// Bytes cut off the last page of a file read as zeros, so a caller that must know checks the size
// afterwards.
std::size_t copy_guarded(std::span<std::byte> to, const std::byte* from);

// Calls a library's code that follows offsets in a mapped file. Returns false if the call raised
// SIGBUS or SIGSEGV, or called give_up_guarded. The call then stops immediately: its resources are
// not released, and no destructor runs.
bool call_guarded(const std::function<void()>& call);
// Returns if no call of this thread is guarded.
void give_up_guarded();

}  // namespace loaderscope::source
