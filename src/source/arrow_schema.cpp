// The columns that a schema of Arrow's describes.
#include "loaderscope/errors.h"
#include "source/arrow_tables.h"

namespace loaderscope::source::arrow_tables {
namespace {

ArrowField::Dictionary dictionary_of(const EncodingTable& table) {
  ArrowField::Dictionary dictionary;
  dictionary.id = table.number<std::int64_t>(EncodingTable::id);
  if (const auto* numbers = table.part<TypeTable>(EncodingTable::numbers)) {
    dictionary.bits = numbers->number<std::int32_t>(TypeTable::bits);
    dictionary.is_signed = numbers->number<std::uint8_t>(TypeTable::is_signed) != 0;
  }
  return dictionary;
}

ArrowField field_of(const FieldTable& table);

std::vector<ArrowField> fields_of(const TablesOf<FieldTable>* tables) {
  std::vector<ArrowField> fields;
  if (tables == nullptr) return fields;
  for (const FieldTable* table : *tables) fields.push_back(field_of(*table));
  return fields;
}

ArrowField field_of(const FieldTable& table) {
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
    field.dictionary = dictionary_of(*encoding);
  field.children = fields_of(table.part<TablesOf<FieldTable>>(FieldTable::children));
  return field;
}

}  // namespace

std::vector<ArrowField> columns_of_schema(const SchemaTable* schema) {
  if (schema == nullptr) throw ValueError("is damaged: it describes no columns");
  if (schema->number<std::int16_t>(SchemaTable::endianness) != 0)
    throw ValueError("has its numbers' high bytes first, which is not read", "write it again here");
  return fields_of(schema->part<TablesOf<FieldTable>>(SchemaTable::fields));
}

}  // namespace loaderscope::source::arrow_tables
