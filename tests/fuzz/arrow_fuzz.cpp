// Arrow files and streams: whatever their bytes, they are refused or every value that is not null
// lies within them, or within what they are unpacked to.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/stored_table.h"
#include "source/arrow_file.h"

namespace {

using namespace loaderscope;
using fuzz::Stored;
using fuzz::touch;

Stored unpacked(const source::ArrowValues& values, Stored stored, std::vector<std::byte>& to) {
  if (!values.codec) return stored;
  if (values.unpacked > fuzz::kLargestTable) return {};
  to.resize(static_cast<std::size_t>(values.unpacked));
  source::ArrowUnpacker unpacker(*values.codec);
  return unpacker.unpack(stored, to);
}

void take_values(Stored stored, const source::ArrowValues& values, std::size_t width) {
  std::vector<std::byte> memory;
  const Stored bytes = unpacked(values, stored, memory);
  if (bytes.empty()) return;
  for (std::int64_t row = 0; row < values.rows; ++row) {
    if (values.is_null(row)) continue;
    const Bytes begin = values.begin_of(row, width), end = values.begin_of(row + 1, width);
    if (begin < 0 || end < begin || end > std::ssize(bytes)) __builtin_trap();
    if (row < 20)
      touch(bytes.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::take_table(
      std::as_bytes(std::span(data, size)),
      [](source::StoredObject& file, source::ChooseColumn choose) {
        return source::read_arrow_layout(file, choose, "", fuzz::kLargestTable);
      },
      [](const source::ArrowLayout& layout) { return layout.batches; },
      [](Stored stored, const source::ArrowValues& values, const source::ArrowLayout& layout) {
        take_values(stored, values, layout.column.width);
      });
  return 0;
}
