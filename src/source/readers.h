// Readers of an extent's bytes, one for each access method.
#pragma once

#include <cstddef>
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

}  // namespace loaderscope::source
