// Where results go: standard output or a file. Nothing that could not be written passes in silence.
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
  // Writes what is left. Throws RunError, except when nobody reads any more (a closed pipe): that
  // is fine.
  ExitCode finish();

 private:
  FdBuffer buffer_;
  std::ostream stream_;
};

// Throws RunError when a result could not or may not be saved at `path`, before a long run is made
// in vain.
void check_output(const std::string& path, const OutputRules& rules = {});

// Writes a temporary file beside `path` and renames it, so that a failure leaves no half file and
// an old one untouched; devices and pipes are written directly. Throws RunError.
void write_output(const std::string& path, const std::function<void(std::ostream&)>& write);
// The same for a file of the cache folder, which only this user may read. Makes its folder.
void write_private(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace loaderscope
