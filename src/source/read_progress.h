// Progress of reading one extent by any system call, and the choice between the page cache and
// O_DIRECT.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace loaderscope::source {

class Access;
struct OpenExtent;

// `alignment` is a power of two. Every read begins and ends at a multiple of it, and may exceed the
// extent. 1: no alignment.
class ReadProgress {
 public:
  ReadProgress() = default;
  explicit ReadProgress(std::size_t size, std::size_t alignment = 1, std::size_t begin = 0)
      : begin_(begin), size_(size), alignment_(alignment) {}

  bool complete() const { return done_ == size_; }
  std::size_t alignment() const { return alignment_; }
  // Size of the buffer. The extent begins at `lead` in it.
  std::size_t buffer_bytes() const { return rounded_up(begin_ + size_) - rounded_down(begin_); }
  std::size_t lead() const { return begin_ - rounded_down(begin_); }

  // The next read: its offset in the object, and its place in the buffer. Bytes after the last
  // multiple of the alignment are read again.
  std::size_t offset() const { return rounded_down(begin_ + done_); }
  std::size_t place() const { return offset() - rounded_down(begin_); }
  std::size_t length() const;
  // Takes the result of a read: a number of bytes, or -errno. Throws SampleError, also if the
  // object has ended early.
  void answered(std::int64_t result);

 private:
  std::size_t rounded_down(std::size_t at) const { return at / alignment_ * alignment_; }
  std::size_t rounded_up(std::size_t at) const { return rounded_down(at + alignment_ - 1); }

  std::size_t begin_ = 0, size_ = 0, alignment_ = 1;
  std::size_t done_ = 0;  // bytes of `size_`
};

// Starts reading through the page cache.
ReadProgress begin_cached(const OpenExtent& extent);

// O_DIRECT for the files of one reader. A file that refuses it is read through the page cache, and
// counted.
class DirectSwitch {
 public:
  explicit DirectSwitch(const Access& access) : access_(access) {}

  // Starts reading, without the page cache if possible.
  ReadProgress begin(const OpenExtent& extent);
  // Starts again through the page cache after the kernel has refused O_DIRECT.
  ReadProgress give_up(const OpenExtent& extent);

 private:
  std::size_t extent_alignment(const OpenExtent& extent);

  const Access& access_;
  dev_t device_ = 0;  // device of the last file
  std::size_t alignment_ = 0;
  bool knows_device_ = false;
};

}  // namespace loaderscope::source
