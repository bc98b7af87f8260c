// Arrow files and streams: whatever their bytes, they are refused or every value that is not null
// lies within them, or within what they are unpacked to.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/stored_object.h"
#include "loaderscope/errors.h"
#include "source/arrow_file.h"

namespace {

using namespace loaderscope;
using fuzz::Memory;
using fuzz::Stored;
using fuzz::touch;

constexpr Bytes kLargest = Bytes{1} << 20;

Stored unpacked(const source::ArrowValues& values, Stored stored, std::vector<std::byte>& to) {
  if (!values.codec) return stored;
  if (values.unpacked > kLargest) return {};
  to.resize(static_cast<std::size_t>(values.unpacked));
  source::ArrowUnpacker unpacker(*values.codec);
  return unpacker.unpack(stored, to);
}

void take_values(Stored file, const source::ArrowValues& values, std::size_t width) {
  if (values.begin < 0 || values.length < 0 || values.length > std::ssize(file) - values.begin)
    __builtin_trap();
  std::vector<std::byte> memory;
  const Stored bytes = unpacked(
      values,
      file.subspan(static_cast<std::size_t>(values.begin), static_cast<std::size_t>(values.length)),
      memory);
  if (bytes.empty()) return;
  for (std::int64_t row = 0; row < values.rows; ++row) {
    if (values.is_null(row)) continue;
    const Bytes begin = values.begin_of(row, width), end = values.begin_of(row + 1, width);
    if (begin < 0 || end < begin || end > std::ssize(bytes)) __builtin_trap();
    if (row < 20)
      touch(bytes.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  }
}

void read_file(Stored bytes, source::ChooseColumn choose) {
  Memory file(bytes);
  try {
    const source::ArrowLayout layout = source::read_arrow_layout(file, choose, "", kLargest);
    for (const source::ArrowValues& values : layout.batches) {
      try {
        take_values(bytes, values, layout.column.width);
      } catch (const ValueError&) {
      } catch (const SampleError&) {
      }
    }
  } catch (const ValueError&) {
  } catch (const SampleError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Stored bytes = std::as_bytes(std::span(data, size));
  read_file(bytes, source::choose_image_column);
  read_file(bytes, source::choose_class_column);
  return 0;
}
