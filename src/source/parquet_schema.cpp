// Columns of a Parquet file: a tree whose leaves hold values.
#include <array>
#include <utility>

#include "loaderscope/errors.h"
#include "source/parquet_file.h"
#include "source/thrift.h"

namespace loaderscope::source {
namespace {

using Field = ThriftReader::Field;

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
constexpr std::int64_t kOptional = 1, kRepeated = 2;

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
    column.levels += element.repetition == kOptional ? 1 : 0;
    column.is_list = column.is_list || element.repetition == kRepeated;
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
