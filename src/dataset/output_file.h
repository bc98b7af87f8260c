// A file of a shard: written in large pieces.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dataset/files.h"
#include "loaderscope/units.h"

namespace loaderscope::dataset {

// Whole or not there, as WholeFile is. All throw RunError.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path) : file_(path) {}

  void append(std::span<const std::byte> bytes);
  void finish();
  Bytes bytes() const { return bytes_; }  // of the file so far

 private:
  void flush();

  WholeFile file_;
  std::vector<std::byte> held_;
  Bytes bytes_ = 0;
};

}  // namespace loaderscope::dataset
