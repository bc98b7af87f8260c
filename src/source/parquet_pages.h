// Contents of a column chunk of a Parquet file.
//
// A chunk is a run of pages. The first page may be the dictionary, with all distinct values. The
// other pages contain the values of their rows, or their indices in the dictionary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "loaderscope/source.h"
#include "source/page_codec.h"
#include "source/parquet.h"
#include "source/read_counts.h"
#include "source/readers.h"

namespace loaderscope::source {

enum class PageKind : std::uint8_t { values, dictionary, other };

struct ParquetPage {
  PageKind kind = PageKind::other;
  std::int64_t values = 0;  // rows, including null ones
  std::int64_t encoding = 0, level_encoding = 0;
  Bytes head = 0, stored = 0, unpacked = 0;
  std::optional<Bytes> level_bytes;  // set in version 2: levels at the begin of the page, which are
                                     // never packed
  bool is_packed = true;
};
// Parses the header of a page. Throws ValueError.
ParquetPage parse_page(std::span<const std::byte> bytes);

// Place of a value in a page.
struct ValuePlace {
  static constexpr std::uint32_t kNull = 0xffffffff;
  std::uint32_t begin = kNull, size = 0;
};
using Present = std::vector<bool>;  // false: the row is null

// Throw ValueError.
Present read_present(std::span<const std::byte> levels, std::uint32_t full_level, std::size_t rows);
// `width`: bytes of each value; 0: each value follows its length.
std::vector<ValuePlace> stored_places(std::span<const std::byte> values, const Present& present,
                                      std::size_t width);
std::vector<ValuePlace> numbered_places(std::span<const std::byte> numbers, const Present& present,
                                        std::span<const ValuePlace> dictionary);

// Places of numbers that are stored as differences. The numbers themselves are written to `built`.
std::vector<ValuePlace> number_places(std::span<const std::byte> values, const Present& present,
                                      std::size_t width, std::vector<std::byte>& built);
// Places of bytes that follow their lengths.
std::vector<ValuePlace> length_places(std::span<const std::byte> values, const Present& present);
// Places of values that share a prefix with the value before. The values are written to `built`,
// which has at most `most` bytes.
std::vector<ValuePlace> prefix_places(std::span<const std::byte> values, const Present& present,
                                      Bytes most, std::vector<std::byte>& built);

// The values of one column chunk. Throws SampleError.
class ColumnChunk {
 public:
  ColumnChunk(Bytes largest_page, const ReadCounts& counts)
      : largest_page_(largest_page), counts_(counts) {}

  // Opens a chunk. `bytes` must stay valid until the next call.
  void open(std::span<const std::byte> bytes, const ParquetGroup& group,
            const ParquetColumn& column);
  // Returns the value of a row of the group, or nothing if it is null. Valid until the next call.
  std::optional<std::span<const std::byte>> value(std::int64_t row, SubstageListener& stages);

 private:
  struct FoundPage {
    ParquetPage about;
    std::int64_t first_row = 0;
    std::size_t body = 0;  // begin of the page's body
  };
  const FoundPage& find_page(std::int64_t row);
  void find_next();
  std::span<const std::byte> page_body(const FoundPage& page) const;
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
  std::size_t width_ = 0;  // bytes of each value; 0: each value follows its length
  std::unique_ptr<PageUnpacker> unpacker_;
  std::int64_t codec_ = kStoredAsIs;  // codec of `unpacker_`

  std::vector<FoundPage> pages_;  // pages of values found so far
  std::size_t next_page_ = 0;     // begin of the next page
  std::int64_t rows_found_ = 0;
  std::optional<FoundPage> dictionary_page_;

  SampleBuffer page_buffer_, dictionary_buffer_;
  std::vector<std::byte> built_;                  // values that are not stored directly
  std::span<const std::byte> dictionary_, from_;  // base of `dictionary_places_` and of `places_`
  std::vector<ValuePlace> dictionary_places_, places_;
  std::int64_t open_from_ = -1;  // first row of the open page; -1: none
};

}  // namespace loaderscope::source
