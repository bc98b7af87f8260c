// Footers and pages of Parquet files: whatever their bytes, they are refused or what is taken of
// them lies within them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/stored_table.h"
#include "source/parquet.h"
#include "source/parquet_pages.h"
#include "source/read_counts.h"

namespace {

using namespace loaderscope;
using fuzz::Stored;
using fuzz::touch;

constexpr std::int64_t kMaxRows = 20;  // rows read from one group

void take_values(Stored bytes, const source::ParquetGroup& group,
                 const source::ParquetColumn& column) {
  static const source::ReadCounts counts;
  static SubstageListener listener;
  source::ColumnChunk chunk(fuzz::kMaxTable, counts);
  chunk.open(bytes, group, column);
  for (std::int64_t row = 0; row < std::min(group.rows, kMaxRows); ++row) {
    fuzz::or_refused([&] {
      if (const auto value = chunk.value(row, listener)) touch(*value);
    });
  }
}

// Reads the input as pages without a footer. The first byte chooses the compression and the levels.
void read_pages(Stored bytes) {
  if (bytes.empty()) return;
  const auto first = static_cast<std::uint8_t>(bytes.front());
  source::ParquetGroup group;
  group.rows = 1000;
  group.codec = first & 7;
  source::ParquetColumn column;
  column.levels = first >> 3 & 3;
  column.number = (first & 32) != 0 ? 2 : 6;  // numbers of 64 bits, or bytes
  fuzz::or_refused([&] { take_values(bytes.subspan(1), group, column); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Stored bytes = std::as_bytes(std::span(data, size));
  fuzz::take_table(
      bytes,
      [](source::StoredObject& file, source::ChooseColumn choose) {
        return source::read_layout(file, choose, "");
      },
      [](const source::ParquetLayout& layout) { return layout.groups; },
      [](Stored stored, const source::ParquetGroup& group, const source::ParquetLayout& layout) {
        take_values(stored, group, layout.column);
      });
  read_pages(bytes);
  return 0;
}
