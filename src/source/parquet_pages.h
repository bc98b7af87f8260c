// What lies in a column of a row group of a Parquet file.
//
// A run of pages: perhaps one of all values that there are (the dictionary), then those whose rows
// have their values one after another, or their numbers in the dictionary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "loaderscope/source.h"
#include "source/page_codec.h"
#include "source/parquet_file.h"
#include "source/read_counts.h"
#include "source/readers.h"

namespace loaderscope::source {

enum class PageKind : std::uint8_t { values, dictionary, other };

struct ParquetPage {
  PageKind kind = PageKind::other;
  std::int64_t values = 0;  // rows, also those that are null
  std::int64_t encoding = 0, level_encoding = 0;
  Bytes head = 0, stored = 0, unpacked = 0;
  std::optional<Bytes> level_bytes;  // in front and never packed: of version 2
  bool is_packed = true;
};
// Of the page that begins there. Throws ValueError.
ParquetPage parse_page(std::span<const std::byte> bytes);

// Where a value lies in a page.
struct ValuePlace {
  static constexpr std::uint32_t kNull = 0xffffffff;
  std::uint32_t begin = kNull, size = 0;
};
using Present = std::vector<bool>;  // which rows are not null

// Throw ValueError.
Present present_of(std::span<const std::byte> levels, std::uint32_t full_level, std::size_t rows);
// `width`: bytes of each value; 0: they have their lengths in front.
std::vector<ValuePlace> stored_places(std::span<const std::byte> values, const Present& present,
                                      std::size_t width);
std::vector<ValuePlace> numbered_places(std::span<const std::byte> numbers, const Present& present,
                                        std::span<const ValuePlace> dictionary);

// Of numbers that are stored as differences; what they are then stands in `built`.
std::vector<ValuePlace> number_places(std::span<const std::byte> values, const Present& present,
                                      std::size_t width, std::vector<std::byte>& built);
// Of bytes behind their lengths.
std::vector<ValuePlace> length_places(std::span<const std::byte> values, const Present& present);
// Of bytes that go on as the value before begins; they then stand in `built`, `most` at most.
std::vector<ValuePlace> prefix_places(std::span<const std::byte> values, const Present& present,
                                      Bytes most, std::vector<std::byte>& built);

// The values of one run of pages. Throws SampleError.
class ColumnChunk {
 public:
  ColumnChunk(Bytes largest_page, const ReadCounts& counts)
      : largest_page_(largest_page), counts_(counts) {}

  // Of these bytes, which stay where they are until the next call.
  void open(std::span<const std::byte> bytes, const ParquetGroup& group,
            const ParquetColumn& column);
  // Of a row of the group, nothing where it is null. Valid until the next call.
  std::optional<std::span<const std::byte>> value(std::int64_t row, SubstageListener& stages);

 private:
  struct FoundPage {
    ParquetPage about;
    std::int64_t first_row = 0;
    std::size_t body = 0;  // where it begins
  };
  const FoundPage& page_of(std::int64_t row);
  void find_next();
  std::span<const std::byte> body_of(const FoundPage& page) const;
  std::span<const std::byte> unpacked(std::span<const std::byte> stored, Bytes size,
                                      SampleBuffer& buffer, SubstageListener& stages);
  void open_dictionary(const FoundPage& page, SubstageListener& stages);
  void open_page(const FoundPage& page, SubstageListener& stages);
  Present take_levels(const ParquetPage& page, std::span<const std::byte>& from) const;
  void place_values(const ParquetPage& page, std::span<const std::byte> values,
                    const Present& present);
  void place_deltas(std::int64_t encoding, std::span<const std::byte> values,
                    const Present& present);

  Bytes largest_page_;
  const ReadCounts& counts_;
  std::span<const std::byte> bytes_;
  ParquetGroup group_;
  std::uint32_t levels_ = 0;
  std::size_t width_ = 0;  // of each value; 0: they have their lengths in front
  std::unique_ptr<PageUnpacker> unpacker_;
  std::int64_t codec_ = kStoredAsIs;  // of `unpacker_`

  std::vector<FoundPage> pages_;  // of values, as far as they have been looked for
  std::size_t next_page_ = 0;     // where the next one begins
  std::int64_t rows_found_ = 0;
  std::optional<FoundPage> dictionary_page_;

  SampleBuffer page_buffer_, dictionary_buffer_;
  std::vector<std::byte> built_;                  // values that are not stored as they are
  std::span<const std::byte> dictionary_, from_;  // what `places_` are places in
  std::vector<ValuePlace> dictionary_places_, places_;
  std::int64_t open_from_ = -1;  // the first row of the page that is open; -1: none is
};

}  // namespace loaderscope::source
