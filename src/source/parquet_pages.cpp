#include "source/parquet_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "loaderscope/errors.h"
#include "source/compression.h"
#include "source/thrift.h"

namespace loaderscope::source {
namespace {

using Field = ThriftReader::Field;
using Kind = SampleError::Kind;

constexpr std::int64_t kPlain = 0, kOldDictionary = 2, kRuns = 3, kDeltas = 5, kDeltaLengths = 6,
                       kPrefixes = 7, kDictionary = 8;

std::string_view encoding_name(std::int64_t encoding) {
  constexpr std::array<std::string_view, 10> kNames = {
      "PLAIN",          "encoding 1",          "PLAIN_DICTIONARY",        "RLE",
      "BIT_PACKED",     "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY",
      "RLE_DICTIONARY", "BYTE_STREAM_SPLIT"};
  return encoding >= 0 && encoding < std::ssize(kNames) ? kNames[static_cast<std::size_t>(encoding)]
                                                        : "an unknown encoding";
}

[[noreturn]] void fail_at_encoding(std::int64_t encoding) {
  throw SampleError(
      Kind::unsupported,
      fmt::format("its page is written as {}, which is not read", encoding_name(encoding)),
      "write the column as PLAIN, or with a dictionary");
}

// The numbers of fields, which the three kinds of heads have each of their own.
struct HeadFields {
  std::int64_t encoding = -1, level_encoding = -1, level_bytes = -1, more_level_bytes = -1,
               is_packed = -1;  // -1: it has none
};
constexpr HeadFields kValuesFields{.encoding = 2, .level_encoding = 3},
    kDictionaryFields{.encoding = 2},
    kVersion2Fields{.encoding = 4, .level_bytes = 5, .more_level_bytes = 6, .is_packed = 7};

void read_head(ThriftReader& reader, const HeadFields& fields, ParquetPage& page) {
  reader.read_fields([&](Field field) {
    if (field.id == 1) {
      page.values = reader.integer(field);
    } else if (field.id == fields.encoding) {
      page.encoding = reader.integer(field);
    } else if (field.id == fields.level_encoding) {
      page.level_encoding = reader.integer(field);
    } else if (field.id == fields.level_bytes || field.id == fields.more_level_bytes) {
      page.level_bytes = page.level_bytes.value_or(0) + reader.integer(field);
    } else if (field.id == fields.is_packed) {
      page.is_packed = reader.truth(field);
    } else {
      return false;
    }
    return true;
  });
}

std::span<const std::byte> take_first(std::span<const std::byte>& from, std::uint64_t count) {
  if (count > from.size()) throw ValueError("its page ends before its values do");
  const auto first = from.first(count);
  from = from.subspan(count);
  return first;
}

}  // namespace

ParquetPage parse_page(std::span<const std::byte> bytes) {
  constexpr std::int64_t kValues = 5, kDictionaryPage = 7, kValues2 = 8;
  ParquetPage page;
  ThriftReader reader(bytes);
  reader.read_fields([&](Field field) {
    switch (field.id) {
      case 2:
        page.unpacked = reader.integer(field);
        return true;
      case 3:
        page.stored = reader.integer(field);
        return true;
      case kValues:
      case kDictionaryPage:
      case kValues2:
        if (field.type != ThriftReader::Type::structure) return false;
        page.kind = field.id == kDictionaryPage ? PageKind::dictionary : PageKind::values;
        if (field.id == kValues2) page.level_bytes = 0;
        read_head(reader,
                  field.id == kDictionaryPage ? kDictionaryFields
                  : field.id == kValues       ? kValuesFields
                                              : kVersion2Fields,
                  page);
        return true;
      default:
        return false;
    }
  });
  page.head = static_cast<Bytes>(reader.bytes_read());
  constexpr std::int64_t kMax = 0x7fffffff;  // limit of the format
  const auto fits = [](std::int64_t number) { return number >= 0 && number <= kMax; };
  if (!fits(page.unpacked) || !fits(page.stored) || !fits(page.values) ||
      !fits(page.level_bytes.value_or(0)))
    throw ValueError("the head of its page holds sizes that cannot be");
  return page;
}

void ColumnChunk::open(std::span<const std::byte> bytes, const ParquetGroup& group,
                       const ParquetColumn& column) {
  bytes_ = bytes;
  if (unpacker_ == nullptr || group.codec != codec_) {
    const PageCodec& codec = page_codec(group.codec);
    unpacker_ = codec.make != nullptr ? codec.make() : nullptr;
    codec_ = group.codec;
  }
  group_ = group;
  levels_ = column.levels;
  width_ = column.width();
  pages_.clear();
  next_page_ = 0;
  rows_found_ = 0;
  dictionary_page_.reset();
  dictionary_places_.clear();
  open_from_ = -1;
}

std::optional<std::span<const std::byte>> ColumnChunk::value(std::int64_t row,
                                                             SubstageListener& stages) {
  try {
    const FoundPage& page = find_page(row);
    if (page.first_row != open_from_) {
      open_from_ = -1;
      open_page(page, stages);
      open_from_ = page.first_row;
    }
    const ValuePlace place = places_[static_cast<std::size_t>(row - page.first_row)];
    if (place.begin == ValuePlace::kNull) return std::nullopt;
    return from_.subspan(place.begin, place.size);
  } catch (const ValueError& error) {
    throw SampleError(Kind::damaged, error.what());
  }
}

const ColumnChunk::FoundPage& ColumnChunk::find_page(std::int64_t row) {
  while (row >= rows_found_) find_next();
  const auto next =
      std::upper_bound(pages_.begin(), pages_.end(), row,
                       [](std::int64_t r, const FoundPage& page) { return r < page.first_row; });
  return *(next - 1);
}

void ColumnChunk::find_next() {
  if (next_page_ == bytes_.size()) throw ValueError("its row group has fewer values than rows");
  FoundPage page{parse_page(bytes_.subspan(next_page_)), rows_found_, 0};
  page.body = next_page_ + static_cast<std::size_t>(page.about.head);
  if (page.about.stored > std::ssize(bytes_) - static_cast<Bytes>(page.body))
    throw ValueError("its page ends after its row group");
  if (page.about.kind == PageKind::values) {
    if (page.about.values > group_.rows - rows_found_)
      throw ValueError("its row group has more values than rows");
    if (page.about.values > 0) pages_.push_back(page);
    rows_found_ += page.about.values;
  } else if (page.about.kind == PageKind::dictionary) {
    if (dictionary_page_) throw ValueError("its row group has two dictionaries");
    dictionary_page_ = page;
  }
  next_page_ = page.body + static_cast<std::size_t>(page.about.stored);
}

std::span<const std::byte> ColumnChunk::page_body(const FoundPage& page) const {
  return bytes_.subspan(page.body, static_cast<std::size_t>(page.about.stored));
}

std::span<const std::byte> ColumnChunk::unpacked(std::span<const std::byte> stored, Bytes size,
                                                 SampleBuffer& buffer, SubstageListener& stages) {
  if (unpacker_ == nullptr) return stored;
  if (size > largest_page_)
    throw SampleError(Kind::too_large,
                      fmt::format("its page has {} bytes, more than the {} that a sample may have",
                                  size, largest_page_));
  const std::span<std::byte> to = buffer.take(static_cast<std::size_t>(size));
  const Unpacking scope(stages);
  unpacker_->unpack(stored, to);
  counts_.count_unpacked(std::ssize(stored), size);
  return to;
}

void ColumnChunk::open_dictionary(const FoundPage& page, SubstageListener& stages) {
  if (page.about.encoding != kPlain && page.about.encoding != kOldDictionary)
    fail_at_encoding(page.about.encoding);
  dictionary_ = unpacked(page_body(page), page.about.unpacked, dictionary_buffer_, stages);
  const auto values = static_cast<std::size_t>(page.about.values);
  if (values > dictionary_.size() / (width_ > 0 ? width_ : sizeof(std::uint32_t)))
    throw ValueError("its dictionary ends before its values do");
  dictionary_places_ = stored_places(dictionary_, Present(values, true), width_);
}

Present ColumnChunk::take_levels(const ParquetPage& page, std::span<const std::byte>& from) const {
  const auto rows = static_cast<std::size_t>(page.values);
  if (levels_ == 0) return Present(rows, true);
  if (page.level_encoding != kRuns) fail_at_encoding(page.level_encoding);
  std::uint32_t size = 0;
  const std::span<const std::byte> head = take_first(from, sizeof size);
  std::memcpy(&size, head.data(), sizeof size);
  return read_present(take_first(from, size), levels_, rows);
}

// Opens a page. In version 2, the levels come before the packed bytes. In version 1, they are
// packed with the values.
void ColumnChunk::open_page(const FoundPage& page, SubstageListener& stages) {
  const ParquetPage& about = page.about;
  std::span<const std::byte> from = page_body(page);
  Present present;
  if (about.level_bytes) {
    const auto levels = take_first(from, static_cast<std::uint64_t>(*about.level_bytes));
    const Bytes size = about.unpacked - *about.level_bytes;
    if (size < 0) throw ValueError("the head of its page holds sizes that cannot be");
    present = levels_ == 0 ? Present(static_cast<std::size_t>(about.values), true)
                           : read_present(levels, levels_, static_cast<std::size_t>(about.values));
    if (about.is_packed && size > 0) from = unpacked(from, size, page_buffer_, stages);
  } else {
    from = unpacked(from, about.unpacked, page_buffer_, stages);
    present = take_levels(about, from);
  }
  if ((about.encoding == kDictionary || about.encoding == kOldDictionary) && dictionary_page_ &&
      dictionary_places_.empty())
    open_dictionary(*dictionary_page_, stages);
  place_values(about, from, present);
}

void ColumnChunk::place_values(const ParquetPage& page, std::span<const std::byte> values,
                               const Present& present) {
  if (page.encoding == kPlain) {
    from_ = values;
    places_ = stored_places(values, present, width_);
  } else if (page.encoding == kDictionary || page.encoding == kOldDictionary) {
    from_ = dictionary_;
    places_ = numbered_places(values, present, dictionary_places_);
  } else {
    place_deltas(page.encoding, values, present);
  }
}

void ColumnChunk::place_deltas(std::int64_t encoding, std::span<const std::byte> values,
                               const Present& present) {
  if (encoding == kDeltas && width_ > 0) {
    places_ = number_places(values, present, width_, built_);
    from_ = built_;
  } else if (encoding == kDeltaLengths && width_ == 0) {
    places_ = length_places(values, present);
    from_ = values;
  } else if (encoding == kPrefixes && width_ == 0) {
    places_ = prefix_places(values, present, largest_page_, built_);
    from_ = built_;
  } else {
    fail_at_encoding(encoding);
  }
}

}  // namespace loaderscope::source
