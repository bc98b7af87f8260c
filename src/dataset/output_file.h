// A file of a shard: written in large pieces, and packed where that was asked for.
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

// Whole or not there, as WholeFile is. All throw RunError.
class OutputFile {
 public:
  // `compression`: one that packs; null: none.
  explicit OutputFile(const std::string& path, const CompressionRow* compression = nullptr);

  void append(std::span<const std::byte> bytes);
  void append_all_of(OutputFile& other);  // one that is not packed
  // Of one that is not packed, instead of what was appended there.
  void put(Bytes offset, std::span<const std::byte> bytes);
  void finish();
  Bytes bytes() const { return bytes_; }  // of the file so far

 private:
  void hold(std::span<const std::byte> bytes);
  void flush();

  WholeFile file_;
  std::unique_ptr<source::Packer> packer_;
  std::vector<std::byte> held_, packed_;
  Bytes bytes_ = 0;
};

}  // namespace loaderscope::dataset
