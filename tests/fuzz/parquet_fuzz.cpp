// Footers and pages of Parquet files: whatever their bytes, they are refused or what is taken of
// them lies within them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/stored_object.h"
#include "loaderscope/errors.h"
#include "source/parquet_file.h"
#include "source/parquet_pages.h"
#include "source/read_counts.h"

namespace {

using namespace loaderscope;
using fuzz::Memory;
using fuzz::Stored;
using fuzz::touch;

constexpr Bytes kLargest = Bytes{1} << 20;
constexpr std::int64_t kMostRows = 20;  // that are taken of a group

void take_values(Stored bytes, const source::ParquetGroup& group,
                 const source::ParquetColumn& column) {
  static const source::ReadCounts counts;
  static StageSink nobody;
  source::ColumnChunk chunk(kLargest, counts);
  chunk.open(bytes, group, column);
  for (std::int64_t row = 0; row < std::min(group.rows, kMostRows); ++row) {
    try {
      if (const auto value = chunk.value(row, nobody)) touch(*value);
    } catch (const SampleError&) {
    }
  }
}

void read_file(Stored bytes, source::ChooseColumn choose) {
  Memory file(bytes);
  try {
    const source::ParquetLayout layout = source::read_layout(file, choose, "");
    for (const source::ParquetGroup& group : layout.groups) {
      if (group.rows <= 0 || group.begin < 0 || group.length > std::ssize(bytes) - group.begin)
        __builtin_trap();
      take_values(bytes.subspan(static_cast<std::size_t>(group.begin),
                                static_cast<std::size_t>(group.length)),
                  group, layout.column);
    }
  } catch (const ValueError&) {
  }
}

// As pages, packed as the first byte says: the rest need not fit a footer.
void read_pages(Stored bytes) {
  if (bytes.empty()) return;
  const auto first = static_cast<std::uint8_t>(bytes.front());
  source::ParquetGroup group;
  group.rows = 1000;
  group.codec = first & 7;
  try {
    source::ParquetColumn column;
    column.levels = first >> 3 & 3;
    column.number = (first & 32) != 0 ? 2 : 6;  // numbers of 64 bits, or bytes
    take_values(bytes.subspan(1), group, column);
  } catch (const ValueError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Stored bytes = std::as_bytes(std::span(data, size));
  read_file(bytes, source::choose_image_column);
  read_file(bytes, source::choose_class_column);
  read_pages(bytes);
  return 0;
}
