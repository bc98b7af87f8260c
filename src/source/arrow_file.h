// What lies in an Arrow file (IPC), a stream of messages with or without a footer: where each value
// of one column is.
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

// Of a record batch the values of the column.
struct ArrowValues {
  std::int64_t rows = 0;
  Bytes begin = 0, length = 0;       // in the file, as they are stored
  std::optional<std::int8_t> codec;  // by which they are packed; nothing: they are not
  Bytes unpacked = 0;                // of packed ones
  std::vector<std::int64_t> ends;    // where each begins, and the last one ends; none of numbers
  std::vector<ArrowPlace> places;    // in place of these where they lie in any order
  std::vector<bool> is_there;        // empty: none is null

  // Within the values, unpacked.
  ArrowPlace place_of(std::int64_t row, std::size_t width) const {
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
  std::vector<ArrowValues> batches;  // none without rows
};

// Reads where the values lie. `largest`: what may be unpacked at once. Throws ValueError, as it
// continues "PATH: ".
ArrowLayout read_arrow_layout(StoredObject& file, ChooseColumn choose, std::string_view wanted,
                              Bytes largest);

// Unpacks one buffer as it is stored. Throws ValueError, SampleError.
class ArrowUnpacker {
 public:
  explicit ArrowUnpacker(std::int8_t codec);
  ~ArrowUnpacker();
  static Bytes unpacked_bytes(std::span<const std::byte> stored);
  // Fills `to`, which has as many, or returns the bytes behind the head, which are not packed.
  std::span<const std::byte> unpack(std::span<const std::byte> stored, std::span<std::byte> to);

 private:
  std::unique_ptr<PageUnpacker> unpacker_;
};

}  // namespace loaderscope::source
