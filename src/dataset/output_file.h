// A file of a shard, written in large pieces and optionally packed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dataset/files.h"
#include "loaderscope/units.h"
#include "source/compression.h"

namespace loaderscope::dataset {

// Complete or missing, like WholeFile. All functions throw RunError.
class OutputFile {
 public:
  // `compression` must support packing; null: none.
  explicit OutputFile(const std::string& path, const CompressionRow* compression = nullptr);

  void append(std::span<const std::byte> bytes);
  void append_all_of(OutputFile& other);  // requires an unpacked file
  // Replaces appended bytes. Requires a file that is not packed.
  void put(Bytes offset, std::span<const std::byte> bytes);
  void finish();
  Bytes bytes() const { return bytes_; }  // size of the file so far

 private:
  void hold(std::span<const std::byte> bytes);
  void flush();

  WholeFile file_;
  std::unique_ptr<source::Packer> packer_;
  std::vector<std::byte> held_, packed_;
  Bytes bytes_ = 0;
};

}  // namespace loaderscope::dataset
