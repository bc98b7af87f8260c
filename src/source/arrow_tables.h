// The tables of Arrow's Message.fbs, Schema.fbs and File.fbs, with the slots that are used here.
// Every offset is verified before it is followed.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "source/arrow_messages.h"

namespace loaderscope::source::arrow_tables {

using flatbuffers::Verifier;

template <class T>
using TablesOf = flatbuffers::Vector<flatbuffers::Offset<T>>;

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
    return VerifyOffset(verifier, slot(n)) && verifier.VerifyVector(part<TablesOf<T>>(n)) &&
           verifier.VerifyVectorOfTables(part<TablesOf<T>>(n));
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
