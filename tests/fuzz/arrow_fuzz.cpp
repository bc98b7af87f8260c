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
  if (values.unpacked > fuzz::kMaxTable) return {};
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
    const source::ArrowPlace place = values.row_place(row, width);
    if (place.begin < 0 || place.length < 0 || place.length > std::ssize(bytes) - place.begin)
      __builtin_trap();
    if (row < 20)
      touch(bytes.subspan(static_cast<std::size_t>(place.begin),
                          static_cast<std::size_t>(place.length)));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::take_table(
      std::as_bytes(std::span(data, size)),
      [](source::StoredObject& file, source::ChooseColumn choose) {
        const bool is_image = choose == source::choose_image_column;
        return source::read_arrow_layout(file, choose, is_image ? "image" : "", fuzz::kMaxTable);
      },
      [](const source::ArrowLayout& layout) { return layout.batches; },
      [](Stored stored, const source::ArrowValues& values, const source::ArrowLayout& layout) {
        take_values(stored, values, layout.column.width);
      });
  return 0;
}
