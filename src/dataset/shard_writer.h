// Writes a shard: a tar file of samples, as WebDataset reads it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/files.h"
#include "loaderscope/units.h"

namespace loaderscope::dataset {

// Members have no time, no owner and names of up to 100 bytes, so that the same samples give the
// same bytes. Throws RunError.
class ShardWriter {
 public:
  explicit ShardWriter(std::string path) : file_(std::move(path)) {}

  void add(std::string_view name, std::span<const std::byte> bytes);
  void finish();
  Bytes bytes() const { return bytes_; }  // of the shard so far

 private:
  void append(std::span<const std::byte> bytes);
  void flush();

  WholeFile file_;
  std::vector<std::byte> held_;
  Bytes bytes_ = 0;
};

}  // namespace loaderscope::dataset
