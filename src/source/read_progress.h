// How far the reading of one file has come, whoever asks the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace loaderscope::source {

// `alignment`, a power of two: every read begins and ends at a multiple of it, and so may ask for
// more than the file has. 1: anywhere.
class ReadProgress {
 public:
  explicit ReadProgress(std::size_t size = 0, std::size_t alignment = 1)
      : size_(size), alignment_(alignment) {}

  bool complete() const { return done_ == size_; }
  std::size_t alignment() const { return alignment_; }
  std::size_t buffer_bytes() const { return rounded_up(size_); }

  // The next read. What was read behind the last multiple of the alignment is read again.
  std::size_t offset() const { return done_ / alignment_ * alignment_; }
  std::size_t length() const;
  // Its answer: a number of bytes, or an error as -errno. Throws SampleError, when the file has
  // ended too.
  void answered(std::int64_t result);

 private:
  std::size_t rounded_up(std::size_t bytes) const {
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }

  std::size_t size_, alignment_;
  std::size_t done_ = 0;
};

}  // namespace loaderscope::source
