// What the footer of a Parquet file says: which columns and row groups it has.
//
// A file ends with the footer, its length and "PAR1".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/units.h"
#include "source/store.h"

namespace loaderscope::source {

// Of the tree of columns a leaf.
struct ParquetColumn {
  std::string path;          // "image.bytes"
  std::int64_t type = 0;     // in the file
  std::uint32_t levels = 0;  // how many of it and what stands above it may be null
  bool is_list = false;      // several values a row
  bool is_text = false;
};

// Of a row group the column that is read.
struct ParquetGroup {
  std::int64_t rows = 0;
  Bytes begin = 0, length = 0;  // of its pages, in the file
  Bytes unpacked = 0;           // that they hold, as the file says
  std::int64_t codec = 0;
  bool operator==(const ParquetGroup&) const = default;
};

// Throw ValueError, as it continues "PATH: ".
std::vector<ParquetColumn> parse_columns(std::span<const std::byte> footer);
// The number of the one that is wanted; "": of the one that can hold images.
std::size_t choose_column(const std::vector<ParquetColumn>& columns, std::string_view wanted);
// `data_bytes`: what lies in front of the footer.
std::vector<ParquetGroup> parse_groups(std::span<const std::byte> footer, std::size_t column,
                                       Bytes data_bytes);

struct ParquetLayout {
  ParquetColumn column;
  std::vector<ParquetGroup> groups;  // none without rows
};
ParquetLayout read_layout(StoredObject& file, std::string_view wanted_column);

}  // namespace loaderscope::source
