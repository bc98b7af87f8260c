// The bytes of a trace, unpacked where they are packed by gzip, as a stream.
#pragma once

#include <cstddef>
#include <fstream>
#include <memory>
#include <streambuf>
#include <string>
#include <vector>

#include "source/compression.h"

namespace loaderscope::traces {

// Throws RunError where the file cannot be read or unpacked, or holds more than any trace does for
// its size.
class TraceStream : public std::streambuf {
 public:
  explicit TraceStream(const std::string& path);

  // Marks all bytes so far as processed. Bytes between two calls are held in memory and are
  // therefore limited.
  void understood() { understood_ = given_; }
  std::int64_t given() const { return given_; }  // bytes, unpacked
  bool is_packed() const { return unpacker_ != nullptr; }
  bool is_cut_off() const { return unpacker_ != nullptr && !unpacker_->is_complete(); }

 protected:
  int_type underflow() override;

 private:
  bool fill();  // reads from the file; returns false at its end
  std::size_t unpack();
  void check_size() const;

  std::string path_;
  std::ifstream file_;
  std::unique_ptr<source::Unpacker> unpacker_;
  std::vector<char> packed_, bytes_;
  std::size_t packed_begin_ = 0, packed_end_ = 0;
  std::int64_t read_ = 0, given_ = 0, understood_ = 0;
};

}  // namespace loaderscope::traces
