// The ways to a file's bytes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/fd.h"
#include "loaderscope/source.h"

namespace loaderscope::source {

class FileSource;

inline constexpr std::size_t kPage = 4096;  // the alignment of the buffers that reads go to

std::unique_ptr<SampleReader> make_pread_reader(const FileSource& source);
std::unique_ptr<SampleReader> make_mmap_reader(const FileSource& source);
std::unique_ptr<SampleReader> make_direct_reader(const FileSource& source);
std::unique_ptr<SampleReader> make_ring_reader(const FileSource& source);
std::unique_ptr<SampleReader> make_direct_ring_reader(const FileSource& source);

// Copies from memory that may be a mapped file cut short meanwhile; returns how many bytes could be
// had, where a plain copy would end the process.
std::size_t copy_guarded(std::span<std::byte> to, const std::byte* from);

// One growing buffer, aligned to pages, never copied and never given back while its reader lives.
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

struct OpenFile {
  Fd fd;
  std::size_t size = 0;
  dev_t device = 0;
};

// Opens files so that reading leaves no trace (no access time where that is allowed).
class FileOpener {
 public:
  explicit FileOpener(const FileSource& source) : source_(source) {}
  // A regular file that is not empty and not too large. Throws SampleError.
  OpenFile open(std::int64_t sample);

  // The parts of `open`, for readers that have the kernel open files meanwhile.
  int flags() const;  // of open(2)
  // Whether an open with `flags` that failed with `error` is worth another try with flags().
  bool may_try_again(int flags, int error);
  OpenFile checked(Fd fd) const;

 private:
  Fd open_path();

  const FileSource& source_;
  std::string path_;
  bool no_atime_ = true;  // until it is refused: files of other users
};

// Throw SampleError, or RunError where the machine had too little of something.
[[noreturn]] void fail_to_open(const std::string& path, int error);
[[noreturn]] void fail_to_read(int error);
SampleError shrank(std::size_t bytes, std::size_t expected);

}  // namespace loaderscope::source
