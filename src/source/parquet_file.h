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
#include "source/table_columns.h"

namespace loaderscope::source {

struct ParquetColumn : TableColumn {
  std::int64_t number = 0;    // of its type, in the file
  std::uint32_t levels = 0;   // how many of it and what stands above it may be null
  std::size_t width() const;  // bytes of each number; 0: bytes or text
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
// Of one of these columns. `data_bytes`: what lies in front of the footer.
std::vector<ParquetGroup> parse_groups(std::span<const std::byte> footer,
                                       const std::vector<ParquetColumn>& columns,
                                       std::size_t column, Bytes data_bytes);

struct ParquetLayout {
  ParquetColumn column;
  std::vector<ParquetGroup> groups;  // none without rows
};
ParquetLayout read_layout(StoredObject& file, ChooseColumn choose, std::string_view wanted);

}  // namespace loaderscope::source
