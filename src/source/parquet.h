// Parquet files: a row's value in one column is the sample, an image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/source.h"
#include "loaderscope/units.h"
#include "source/options.h"
#include "source/store.h"
#include "source/table_columns.h"

namespace loaderscope::source {

inline constexpr std::string_view kParquetSuffixes[] = {".parquet"};

}  // namespace loaderscope::source

namespace loaderscope {

// Throws RunError, or UsageError for words that do not fit.
std::unique_ptr<Source> open_parquet(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope

namespace loaderscope::source {

// Footer of a Parquet file: its columns and row groups.
//
// A file ends with the footer, its length and "PAR1".
struct ParquetColumn : TableColumn {
  std::int64_t number = 0;    // number of its type in the file
  std::uint32_t levels = 0;   // number of nullable levels: the column and its ancestors
  std::size_t width() const;  // bytes of each number; 0: bytes or text
};

// The read column in one row group.
struct ParquetGroup {
  std::int64_t rows = 0;
  Bytes begin = 0, length = 0;  // place of its pages in the file
  Bytes unpacked = 0;           // unpacked size of the pages, as declared
  std::int64_t codec = 0;
  bool operator==(const ParquetGroup&) const = default;
};

// Throw ValueError, which continues "PATH: ".
std::vector<ParquetColumn> parse_columns(std::span<const std::byte> footer);
// Returns the row groups of one column. `data_bytes` is the size of the file before the footer.
std::vector<ParquetGroup> parse_groups(std::span<const std::byte> footer,
                                       const std::vector<ParquetColumn>& columns,
                                       std::size_t column, Bytes data_bytes);

struct ParquetLayout {
  ParquetColumn column;
  std::vector<ParquetGroup> groups;  // empty without rows
};
ParquetLayout read_layout(StoredObject& file, ChooseColumn choose, std::string_view wanted);

}  // namespace loaderscope::source
