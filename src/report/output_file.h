// Writes results to standard output or to a file. Each failure to write is reported.
#pragma once

#include <array>
#include <functional>
#include <ostream>
#include <streambuf>
#include <string>

#include "loaderscope/errors.h"
#include "report/output_rules.h"

namespace loaderscope {

// Writes to a file descriptor, which it does not own, and keeps the first error.
class FdBuffer : public std::streambuf {
 public:
  explicit FdBuffer(int fd);
  int error() const { return error_; }  // errno, or 0

 protected:
  int_type overflow(int_type c) override;
  int sync() override;

 private:
  bool drain();

  int fd_;
  int error_ = 0;
  std::array<char, 1 << 16> buffer_;
};

class StandardOutput {
 public:
  StandardOutput();
  std::ostream& stream() { return stream_; }
  // Writes the rest. Throws RunError, but not if the reader has closed the pipe.
  ExitCode finish();

 private:
  FdBuffer buffer_;
  std::ostream stream_;
};

// Throws RunError if a result cannot or may not be saved at `path`. Call it before a long run.
void check_output(const std::string& path, const OutputRules& rules = {});

// Writes a temporary file in the folder of `path` and renames it. A failure leaves an old file as
// it was. Devices and pipes are written directly. Throws RunError.
void write_output(const std::string& path, const std::function<void(std::ostream&)>& write);
// The same for a file of the cache folder, which only this user may read. Makes its folder.
void write_private(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace loaderscope
