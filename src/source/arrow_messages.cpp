#include "source/arrow_messages.h"

#include <flatbuffers/flatbuffers.h>

#include <cstring>

#include "loaderscope/errors.h"

namespace loaderscope::source::arrow_tables {

// The tables of Arrow's Message.fbs, Schema.fbs and File.fbs, with the slots that are used here.
// Every offset is verified before it is followed.
using flatbuffers::Verifier;

template <class T>
using TableVector = flatbuffers::Vector<flatbuffers::Offset<T>>;

struct ArrowTable : private flatbuffers::Table {
  // Returns the slot of field `n`.
  static constexpr flatbuffers::voffset_t slot(int n) {
    return static_cast<flatbuffers::voffset_t>(4 + 2 * n);
  }
  template <class T>
  T number(int n, T otherwise = 0) const {
    return GetField<T>(slot(n), otherwise);
  }
  template <class T>
  const T* part(int n) const {
    return GetPointer<const T*>(slot(n));
  }
  const std::uint8_t* list(int n) const { return GetPointer<const std::uint8_t*>(slot(n)); }

  bool begins(Verifier& verifier) const { return VerifyTableStart(verifier); }
  template <class T>
  bool has_number(Verifier& verifier, int n) const {
    return VerifyField<T>(verifier, slot(n), sizeof(T));
  }
  template <class T>
  bool has_table(Verifier& verifier, int n) const {
    return VerifyOffset(verifier, slot(n)) &&
           (part<T>(n) == nullptr || part<T>(n)->Verify(verifier));
  }
  template <class T>
  bool has_tables(Verifier& verifier, int n) const {
    return VerifyOffset(verifier, slot(n)) && verifier.VerifyVector(part<TableVector<T>>(n)) &&
           verifier.VerifyVectorOfTables(part<TableVector<T>>(n));
  }
  bool has_text(Verifier& verifier, int n) const {
    return VerifyOffset(verifier, slot(n)) && verifier.VerifyString(part<flatbuffers::String>(n));
  }
  // Verifies a list of elements of `element` bytes.
  bool has_list(Verifier& verifier, int n, std::size_t element) const {
    return VerifyOffset(verifier, slot(n)) &&
           (list(n) == nullptr || verifier.VerifyVectorOrString(list(n), element));
  }
  bool ends(Verifier& verifier) const { return verifier.EndTable(); }
};

inline constexpr std::uint8_t kWholeNumbers = 2;

struct TypeTable : ArrowTable {
  enum { bits, is_signed };
  bool Verify(Verifier& verifier) const {
    return begins(verifier) && has_number<std::int32_t>(verifier, bits) &&
           has_number<std::uint8_t>(verifier, is_signed) && ends(verifier);
  }
};

struct AnyTable : ArrowTable {
  bool Verify(Verifier& verifier) const { return begins(verifier) && ends(verifier); }
};

struct EncodingTable : ArrowTable {
  enum { id, numbers };
  bool Verify(Verifier& verifier) const {
    return begins(verifier) && has_number<std::int64_t>(verifier, id) &&
           has_table<TypeTable>(verifier, numbers) && ends(verifier);
  }
};

struct FieldTable : ArrowTable {
  enum { name, nullable, type_of_type, type, dictionary, children };
  bool holds_numbers() const { return number<std::uint8_t>(type_of_type) == kWholeNumbers; }
  bool Verify(Verifier& verifier) const {
    return begins(verifier) && has_text(verifier, name) &&
           has_number<std::uint8_t>(verifier, type_of_type) &&
           (holds_numbers() ? has_table<TypeTable>(verifier, type)
                            : has_table<AnyTable>(verifier, type)) &&
           has_table<EncodingTable>(verifier, dictionary) &&
           has_tables<FieldTable>(verifier, children) && ends(verifier);
  }
};

struct SchemaTable : ArrowTable {
  enum { endianness, fields };
  bool Verify(Verifier& verifier) const {
    return begins(verifier) && has_number<std::int16_t>(verifier, endianness) &&
           has_tables<FieldTable>(verifier, fields) && ends(verifier);
  }
};

struct CompressionTable : ArrowTable {
  enum { codec, method };
  bool Verify(Verifier& verifier) const {
    return begins(verifier) && has_number<std::int8_t>(verifier, codec) && ends(verifier);
  }
};

struct BatchTable : ArrowTable {
  enum { length, nodes, buffers, compression, extra_buffers };
  bool Verify(Verifier& verifier) const {
    return begins(verifier) && has_number<std::int64_t>(verifier, length) &&
           has_list(verifier, nodes, 16) && has_list(verifier, buffers, 16) &&
           has_table<CompressionTable>(verifier, compression) &&
           has_list(verifier, extra_buffers, 8) && ends(verifier);
  }
};

struct DictionaryTable : ArrowTable {
  enum { id, values, is_more };
  bool Verify(Verifier& verifier) const {
    return begins(verifier) && has_number<std::int64_t>(verifier, id) &&
           has_table<BatchTable>(verifier, values) && has_number<std::uint8_t>(verifier, is_more) &&
           ends(verifier);
  }
};

inline constexpr std::uint8_t kSchemaMessage = 1, kDictionaryMessage = 2, kBatchMessage = 3;

struct MessageTable : ArrowTable {
  enum { version, kind, content, body };
  bool Verify(Verifier& verifier) const {
    if (!begins(verifier) || !has_number<std::uint8_t>(verifier, kind) ||
        !has_number<std::int64_t>(verifier, body))
      return false;
    const auto is = number<std::uint8_t>(kind);
    if (is == kSchemaMessage && !has_table<SchemaTable>(verifier, content)) return false;
    if (is == kDictionaryMessage && !has_table<DictionaryTable>(verifier, content)) return false;
    if (is == kBatchMessage && !has_table<BatchTable>(verifier, content)) return false;
    return ends(verifier);
  }
};

inline constexpr std::size_t kFooterBlock =
    24;  // a number of 64 bits, one of 32, nothing, one of 64

struct FooterTable : ArrowTable {
  enum { version, schema, dictionaries, batches };
  bool Verify(Verifier& verifier) const {
    return begins(verifier) && has_table<SchemaTable>(verifier, schema) &&
           has_list(verifier, dictionaries, kFooterBlock) &&
           has_list(verifier, batches, kFooterBlock) && ends(verifier);
  }
};

// Returns the columns. A null schema has none. Throws ValueError.
std::vector<ArrowField> columns_of_schema(const SchemaTable* schema);

}  // namespace loaderscope::source::arrow_tables

namespace loaderscope::source {
namespace {

using namespace arrow_tables;

template <class T>
const T& verified_root(std::span<const std::byte> bytes, const char* what) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  // Each field is two tables at least, and columns may be deep in one another.
  flatbuffers::Verifier verifier(data, bytes.size());
  if (bytes.size() >= sizeof(std::uint32_t) && verifier.VerifyBuffer<T>(nullptr))
    return *flatbuffers::GetRoot<T>(data);
  throw ValueError(std::string("is damaged: ") + what + " points outside of itself");
}

// A list's elements, as numbers of 64 bits.
std::vector<std::int64_t> list_numbers(const std::uint8_t* list, std::size_t each) {
  if (list == nullptr) return {};
  const std::size_t count = flatbuffers::ReadScalar<std::uint32_t>(list) * each;
  std::vector<std::int64_t> numbers(count);
  if (count > 0)
    std::memcpy(numbers.data(), list + sizeof(std::uint32_t), count * sizeof(std::int64_t));
  return numbers;
}

ArrowBatch make_batch(const BatchTable* described) {
  if (described == nullptr) throw ValueError("is damaged: a record batch is not described");
  const BatchTable& table = *described;
  ArrowBatch batch;
  batch.rows = table.number<std::int64_t>(BatchTable::length);
  const auto nodes = list_numbers(table.list(BatchTable::nodes), 2);
  for (std::size_t i = 0; i < nodes.size(); i += 2) {
    batch.rows_of_nodes.push_back(nodes[i]);
    batch.nulls_of_nodes.push_back(nodes[i + 1]);
  }
  const auto buffers = list_numbers(table.list(BatchTable::buffers), 2);
  for (std::size_t i = 0; i < buffers.size(); i += 2)
    batch.buffers.push_back({buffers[i], buffers[i + 1]});
  batch.extra_buffers = list_numbers(table.list(BatchTable::extra_buffers), 1);
  if (const auto* packed = table.part<CompressionTable>(BatchTable::compression))
    batch.codec = packed->number<std::int8_t>(CompressionTable::codec);
  return batch;
}

std::vector<ArrowBlock> list_blocks(const std::uint8_t* list) {
  std::vector<ArrowBlock> blocks;
  const auto numbers = list_numbers(list, kFooterBlock / sizeof(std::int64_t));
  for (std::size_t i = 0; i < numbers.size(); i += 3)
    blocks.push_back(
        {numbers[i], static_cast<std::int32_t>(numbers[i + 1] & 0xffffffff), numbers[i + 2]});
  return blocks;
}

}  // namespace

ArrowMessage parse_arrow_message(std::span<const std::byte> bytes) {
  const auto& table = verified_root<MessageTable>(bytes, "a message");
  ArrowMessage message;
  message.body = table.number<std::int64_t>(MessageTable::body);
  const auto kind = table.number<std::uint8_t>(MessageTable::kind);
  if (kind == kSchemaMessage) {
    message.columns = columns_of_schema(table.part<SchemaTable>(MessageTable::content));
  } else if (kind == kBatchMessage) {
    message.batch = make_batch(table.part<BatchTable>(MessageTable::content));
  } else if (kind == kDictionaryMessage) {
    const auto* dictionary = table.part<DictionaryTable>(MessageTable::content);
    if (dictionary == nullptr) throw ValueError("is damaged: a dictionary is not described");
    message.dictionary = {dictionary->number<std::int64_t>(DictionaryTable::id),
                          dictionary->number<std::uint8_t>(DictionaryTable::is_more) != 0,
                          make_batch(dictionary->part<BatchTable>(DictionaryTable::values))};
  }
  return message;
}

ArrowFooter parse_arrow_footer(std::span<const std::byte> bytes) {
  const auto& table = verified_root<FooterTable>(bytes, "the footer");
  return {columns_of_schema(table.part<SchemaTable>(FooterTable::schema)),
          list_blocks(table.list(FooterTable::dictionaries)),
          list_blocks(table.list(FooterTable::batches))};
}

}  // namespace loaderscope::source

namespace loaderscope::source::arrow_tables {

// The columns that a schema of Arrow's describes.

namespace {

ArrowField::Dictionary make_dictionary(const EncodingTable& table) {
  ArrowField::Dictionary dictionary;
  dictionary.id = table.number<std::int64_t>(EncodingTable::id);
  if (const auto* numbers = table.part<TypeTable>(EncodingTable::numbers)) {
    dictionary.bits = numbers->number<std::int32_t>(TypeTable::bits);
    dictionary.is_signed = numbers->number<std::uint8_t>(TypeTable::is_signed) != 0;
  }
  return dictionary;
}

ArrowField make_field(const FieldTable& table);

std::vector<ArrowField> make_fields(const TableVector<FieldTable>* tables) {
  std::vector<ArrowField> fields;
  if (tables == nullptr) return fields;
  for (const FieldTable* table : *tables) fields.push_back(make_field(*table));
  return fields;
}

ArrowField make_field(const FieldTable& table) {
  ArrowField field;
  if (const auto* name = table.part<flatbuffers::String>(FieldTable::name))
    field.name.assign(name->c_str(), name->size());
  field.type = table.number<std::uint8_t>(FieldTable::type_of_type);
  const auto* type = table.part<TypeTable>(FieldTable::type);
  if (table.holds_numbers() && type != nullptr) {
    field.bits = type->number<std::int32_t>(TypeTable::bits);
    field.is_signed = type->number<std::uint8_t>(TypeTable::is_signed) != 0;
  }
  if (const auto* encoding = table.part<EncodingTable>(FieldTable::dictionary))
    field.dictionary = make_dictionary(*encoding);
  field.children = make_fields(table.part<TableVector<FieldTable>>(FieldTable::children));
  return field;
}

}  // namespace

std::vector<ArrowField> columns_of_schema(const SchemaTable* schema) {
  if (schema == nullptr) throw ValueError("is damaged: it describes no columns");
  if (schema->number<std::int16_t>(SchemaTable::endianness) != 0)
    throw ValueError("has its numbers' high bytes first, which is not read", "write it again here");
  return make_fields(schema->part<TableVector<FieldTable>>(SchemaTable::fields));
}

}  // namespace loaderscope::source::arrow_tables
