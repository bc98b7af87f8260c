// The ways to a file's bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "loaderscope/source.h"
#include "source/fd.h"

namespace loaderscope::source {

class FileSource;

std::unique_ptr<SampleReader> make_pread_reader(const FileSource& source);
std::unique_ptr<SampleReader> make_mmap_reader(const FileSource& source);
// Throws RunError where a mapped file cannot be read safely; see mmap_reader.cpp.
void demand_mmap_access();

// Copies from memory that may be a mapped file cut short meanwhile; returns how many bytes could be
// had, where a plain copy would end the process.
std::size_t copy_guarded(std::span<std::byte> to, const std::byte* from);

// One growing buffer, never copied and never given back while its reader lives.
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
};

// Opens files so that reading leaves no trace (no access time where that is allowed).
class FileOpener {
 public:
  explicit FileOpener(const FileSource& source) : source_(source) {}
  // A regular file that is not empty and not too large. Throws SampleError.
  OpenFile open(std::int64_t sample);

 private:
  Fd open_path();

  const FileSource& source_;
  std::string path_;
  bool no_atime_ = true;  // until it is refused: files of other users
};

SampleError cannot_read(int error);
SampleError shrank(std::size_t bytes, std::size_t expected);

}  // namespace loaderscope::source
