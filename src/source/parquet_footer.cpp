#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "loaderscope/errors.h"
#include "source/parquet.h"
#include "source/thrift.h"

namespace loaderscope::source {
namespace {

using Field = ThriftReader::Field;

constexpr std::string_view kParquetMagic = "PAR1", kEncryptedMagic = "PARE";
constexpr std::size_t kTail = 8;                // the footer's length, and kParquetMagic
constexpr Bytes kReadAtOnce = Bytes{64} << 10;  // bytes at the end of a file
constexpr Bytes kMaxFooter = Bytes{1} << 30;
constexpr std::int64_t kMaxRows = std::int64_t{1} << 24;  // limit of a row group

struct ColumnFacts {
  bool is_there = false, is_elsewhere = false, is_encrypted = false;
  std::int64_t type = -1, codec = 0, values = 0;
  Bytes length = 0, unpacked = 0, first_page = 0, dictionary = 0;
};

void read_column_facts(ThriftReader& reader, ColumnFacts& facts) {
  facts.is_there = true;
  reader.read_fields([&](Field field) {
    std::int64_t* to = nullptr;
    switch (field.id) {
      case 1:
        to = &facts.type;
        break;
      case 4:
        to = &facts.codec;
        break;
      case 5:
        to = &facts.values;
        break;
      case 6:
        to = &facts.unpacked;
        break;
      case 7:
        to = &facts.length;
        break;
      case 9:
        to = &facts.first_page;
        break;
      case 11:
        to = &facts.dictionary;
        break;
      default:
        return false;
    }
    *to = reader.integer(field);
    return true;
  });
}

ColumnFacts read_column_of_group(ThriftReader& reader) {
  constexpr std::int64_t kFile = 1, kFacts = 3, kEncryption = 8, kEncryptedFacts = 9;
  ColumnFacts facts;
  reader.read_fields([&](Field field) {
    facts.is_elsewhere = facts.is_elsewhere || field.id == kFile;
    facts.is_encrypted =
        facts.is_encrypted || field.id == kEncryption || field.id == kEncryptedFacts;
    if (field.id != kFacts || field.type != ThriftReader::Type::structure) return false;
    read_column_facts(reader, facts);
    return true;
  });
  return facts;
}

ParquetGroup checked_group(const ColumnFacts& facts, std::int64_t type, std::int64_t rows,
                           Bytes data_bytes) {
  if (facts.is_encrypted)
    throw ValueError("is encrypted, which cannot be read", "write the column without");
  if (facts.is_elsewhere)
    throw ValueError("has its columns in other files", "give these with --data");
  const auto fail = [](std::string_view what) {
    throw ValueError(fmt::format("is damaged: a row group {}", what));
  };
  if (!facts.is_there) fail("lacks the column");
  if (facts.type != type) fail("has the column with another type");
  if (rows < 0 || rows != facts.values) fail("has another number of rows than of values");
  if (rows > kMaxRows)
    throw ValueError(
        fmt::format("has a row group of {} rows, more than the {} that are read at once", rows,
                    kMaxRows),
        "write smaller ones (row_group_size=1000)");
  const Bytes begin =
      facts.dictionary > 0 ? std::min(facts.dictionary, facts.first_page) : facts.first_page;
  if (begin < std::ssize(kParquetMagic) || facts.length <= 0 || facts.length > data_bytes - begin ||
      facts.unpacked < 0)
    fail("lies outside of the file");
  return {rows, begin, facts.length, facts.unpacked, facts.codec};
}

ParquetGroup read_group(ThriftReader& reader, std::size_t column, std::int64_t type,
                        Bytes data_bytes) {
  ColumnFacts facts;
  std::int64_t rows = -1;
  reader.read_fields([&](Field field) {
    if (field.id == 3) {
      rows = reader.integer(field);
      return true;
    }
    if (field.id != 1) return false;
    reader.read_list(field, [&](std::size_t i) {
      i == column ? void(facts = read_column_of_group(reader)) : reader.skip_fields();
    });
    return true;
  });
  if (rows == 0) return {};
  return checked_group(facts, type, rows, data_bytes);
}

// Returns the length of the footer of a file with this end.
Bytes footer_bytes(std::span<const std::byte> end, Bytes file_bytes) {
  const auto* text = reinterpret_cast<const char*>(end.data());
  const std::string_view magic =
      end.size() < kTail
          ? ""
          : std::string_view(text + end.size() - kParquetMagic.size(), kParquetMagic.size());
  if (magic == kEncryptedMagic)
    throw ValueError("is encrypted, which cannot be read", "write it without");
  if (magic != kParquetMagic)
    throw ValueError("is no Parquet file, or is cut off: it does not end with PAR1",
                     "copy it again");
  std::uint32_t length = 0;
  std::memcpy(&length, end.data() + end.size() - kTail, sizeof length);
  const Bytes most = file_bytes - static_cast<Bytes>(kTail + kParquetMagic.size());
  if (length > most || length > kMaxFooter)
    throw ValueError(
        fmt::format("is damaged: its footer should have {} bytes, and there are {} in front of it",
                    length, std::max<Bytes>(most, 0)),
        "copy it again");
  return length;
}

std::vector<std::byte> read_footer(StoredObject& file) {
  const Bytes size = file.size();
  std::vector<std::byte> end(static_cast<std::size_t>(std::min(size, kReadAtOnce)));
  end.resize(file.read(size - std::ssize(end), end));
  const auto length = static_cast<std::size_t>(footer_bytes(end, size));
  if (length + kTail <= end.size())
    return {end.end() - static_cast<std::ptrdiff_t>(length + kTail),
            end.end() - static_cast<std::ptrdiff_t>(kTail)};
  std::vector<std::byte> footer(length);
  footer.resize(file.read(size - static_cast<Bytes>(length + kTail), footer));
  return footer;
}

}  // namespace

std::vector<ParquetGroup> parse_groups(std::span<const std::byte> footer,
                                       const std::vector<ParquetColumn>& columns,
                                       std::size_t column, Bytes data_bytes) {
  std::vector<ParquetGroup> groups;
  ThriftReader reader(footer);
  reader.read_fields([&](Field field) {
    if (field.id != 4) return false;
    reader.read_list(field, [&](std::size_t) {
      if (ParquetGroup group = read_group(reader, column, columns[column].number, data_bytes);
          group.rows > 0)
        groups.push_back(group);
    });
    return true;
  });
  return groups;
}

ParquetLayout read_layout(StoredObject& file, ChooseColumn choose, std::string_view wanted) {
  const std::vector<std::byte> footer = read_footer(file);
  const std::vector<ParquetColumn> columns = parse_columns(footer);
  const std::size_t chosen = choose({columns.begin(), columns.end()}, wanted);
  const Bytes data = file.size() - std::ssize(footer) - static_cast<Bytes>(kTail);
  return {columns[chosen], parse_groups(footer, columns, chosen, data)};
}

// Columns of a Parquet file: a tree whose leaves hold values.

namespace {

constexpr std::int64_t kNumbers32 = 1, kNumbers64 = 2, kBytes = 6;  // types
constexpr int kMaxDeep = 64;

std::string_view type_name(std::int64_t type) {
  constexpr std::array<std::string_view, 8> kNames = {
      "BOOLEAN", "INT32",  "INT64",      "INT96",
      "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};
  return type >= 0 && type < std::ssize(kNames) ? kNames[static_cast<std::size_t>(type)]
                                                : "an unknown type";
}

// Elements in file order: each before its children.
struct SchemaElement {
  std::string_view name;
  std::int64_t type = -1, repetition = 0, children = 0;
  bool is_annotated = false;  // marked as text, numbers and the like
};
constexpr std::int64_t kOptionalField = 1, kRepeatedField = 2;

TableColumn::Holds what_holds(const SchemaElement& element) {
  using Holds = TableColumn::Holds;
  if (element.type == kBytes) return element.is_annotated ? Holds::text : Holds::bytes;
  const bool are_numbers = element.type == kNumbers32 || element.type == kNumbers64;
  return are_numbers ? Holds::numbers : Holds::other;
}

SchemaElement read_element(ThriftReader& reader) {
  SchemaElement element;
  reader.read_fields([&](Field field) {
    switch (field.id) {
      case 1:
        element.type = reader.integer(field);
        return true;
      case 3:
        element.repetition = reader.integer(field);
        return true;
      case 4:
        element.name = reader.text(field);
        return true;
      case 5:
        element.children = reader.integer(field);
        return true;
      case 6:
      case 10:
        element.is_annotated = true;
        return false;
      default:
        return false;
    }
  });
  return element;
}

class SchemaTree {
 public:
  explicit SchemaTree(const std::vector<SchemaElement>& elements) : elements_(elements) {}

  std::vector<ParquetColumn> leaves() {
    if (elements_.empty()) throw ValueError("is damaged: it describes no columns");
    const std::int64_t children = elements_[next_++].children;
    for (std::int64_t i = 0; i < children; ++i) add({}, 1);
    return std::move(leaves_);
  }

 private:
  void add(ParquetColumn column, int depth) {
    if (next_ == elements_.size() || depth > kMaxDeep)
      throw ValueError("is damaged: its columns do not fit together");
    const SchemaElement& element = elements_[next_++];
    column.path = paths_.within(column.path, element.name);
    column.levels += element.repetition == kOptionalField ? 1 : 0;
    column.is_list = column.is_list || element.repetition == kRepeatedField;
    if (element.children == 0) {
      column.number = element.type;
      column.type = type_name(element.type);
      column.holds = what_holds(element);
      leaves_.push_back(std::move(column));
      return;
    }
    for (std::int64_t i = 0; i < element.children; ++i) add(column, depth + 1);
  }

  const std::vector<SchemaElement>& elements_;
  std::size_t next_ = 0;
  ColumnPaths paths_;
  std::vector<ParquetColumn> leaves_;
};

}  // namespace

std::size_t ParquetColumn::width() const {
  return number == kNumbers32   ? sizeof(std::int32_t)
         : number == kNumbers64 ? sizeof(std::int64_t)
                                : 0;
}

std::vector<ParquetColumn> parse_columns(std::span<const std::byte> footer) {
  std::vector<SchemaElement> elements;
  ThriftReader reader(footer);
  reader.read_fields([&](Field field) {
    if (field.id != 2) return false;
    reader.read_list(field, [&](std::size_t) { elements.push_back(read_element(reader)); });
    return true;
  });
  return SchemaTree(elements).leaves();
}

}  // namespace loaderscope::source
