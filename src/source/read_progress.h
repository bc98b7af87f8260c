// How far the reading of one extent has come, whoever asks the kernel; and whether it goes past the
// page cache.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace loaderscope::source {

class Access;
struct OpenExtent;

// `alignment`, a power of two: every read begins and ends at a multiple of it, and so may ask for
// more than the extent. 1: anywhere.
class ReadProgress {
 public:
  ReadProgress() = default;
  explicit ReadProgress(std::size_t size, std::size_t alignment = 1, std::size_t begin = 0)
      : begin_(begin), size_(size), alignment_(alignment) {}

  bool complete() const { return done_ == size_; }
  std::size_t alignment() const { return alignment_; }
  // What is read needs so much room, in which the extent begins behind `lead` bytes.
  std::size_t buffer_bytes() const { return rounded_up(begin_ + size_) - rounded_down(begin_); }
  std::size_t lead() const { return begin_ - rounded_down(begin_); }

  // The next read: from where in the object, to where in the buffer. What was read behind the last
  // multiple of the alignment is read again.
  std::size_t offset() const { return rounded_down(begin_ + done_); }
  std::size_t place() const { return offset() - rounded_down(begin_); }
  std::size_t length() const;
  // Its answer: a number of bytes, or an error as -errno. Throws SampleError, when the object has
  // ended too.
  void answered(std::int64_t result);

 private:
  std::size_t rounded_down(std::size_t at) const { return at / alignment_ * alignment_; }
  std::size_t rounded_up(std::size_t at) const { return rounded_down(at + alignment_ - 1); }

  std::size_t begin_ = 0, size_ = 0, alignment_ = 1;
  std::size_t done_ = 0;  // of `size_`
};

// Through the page cache.
ReadProgress begin_cached(const OpenExtent& extent);

// O_DIRECT for the files of one reader. A file that refuses is read through the page cache, and the
// access counts it.
class DirectSwitch {
 public:
  explicit DirectSwitch(const Access& access) : access_(access) {}

  // How to read it, past the page cache where that is possible.
  ReadProgress begin(const OpenExtent& extent);
  // After the kernel has refused a read with O_DIRECT.
  ReadProgress give_up(const OpenExtent& extent);

 private:
  std::size_t alignment_of(const OpenExtent& extent);

  const Access& access_;
  dev_t device_ = 0;  // of the last file
  std::size_t alignment_ = 0;
  bool knows_device_ = false;
};

}  // namespace loaderscope::source
