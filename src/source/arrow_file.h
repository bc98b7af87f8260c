// Contents of an Arrow file (IPC), a stream of messages with or without a footer: the place of each
// value of one column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/units.h"
#include "source/store.h"
#include "source/table_columns.h"

namespace loaderscope::source {

class PageUnpacker;

struct ArrowColumn : TableColumn {
  std::size_t width = 0;  // bytes of each number; 0: bytes or text
  bool is_signed = false;
  bool operator==(const ArrowColumn&) const = default;
};

struct ArrowPlace {
  Bytes begin = 0, length = 0;
};

// Values of the column in one record batch.
struct ArrowValues {
  std::int64_t rows = 0;
  Bytes begin = 0, length = 0;       // in the file, as they are stored
  std::optional<std::int8_t> codec;  // codec of packed values; empty: not packed
  Bytes unpacked = 0;                // bytes when unpacked
  std::vector<std::int64_t> ends;    // begin of each value, and end of the last one; empty for
                                     // numbers
  std::vector<ArrowPlace> places;    // used in place of `ends` if the values are in any order
  std::vector<bool> is_there;        // empty: no value is null

  // Returns the place within the unpacked values.
  ArrowPlace row_place(std::int64_t row, std::size_t width) const {
    const auto at = static_cast<std::size_t>(row);
    if (!places.empty()) return places[at];
    if (!ends.empty()) return {ends[at], ends[at + 1] - ends[at]};
    return {row * static_cast<Bytes>(width), static_cast<Bytes>(width)};
  }
  bool is_null(std::int64_t row) const {
    return !is_there.empty() && !is_there[static_cast<std::size_t>(row)];
  }
};

struct ArrowLayout {
  ArrowColumn column;
  std::vector<ArrowValues> batches;  // empty without rows
};

// Reads the places of the values. `largest` limits the bytes unpacked at once. Throws ValueError,
// which continues "PATH: ".
ArrowLayout read_arrow_layout(StoredObject& file, ChooseColumn choose, std::string_view wanted,
                              Bytes largest);

// Unpacks one stored buffer. Throws ValueError, SampleError.
class ArrowUnpacker {
 public:
  explicit ArrowUnpacker(std::int8_t codec);
  ~ArrowUnpacker();
  static Bytes unpacked_bytes(std::span<const std::byte> stored);
  // Fills `to`, which has the unpacked size. Returns the bytes after the head instead if they are
  // not packed.
  std::span<const std::byte> unpack(std::span<const std::byte> stored, std::span<std::byte> to);

 private:
  std::unique_ptr<PageUnpacker> unpacker_;
};

}  // namespace loaderscope::source
