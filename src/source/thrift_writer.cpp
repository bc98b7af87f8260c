#include "source/thrift.h"

namespace loaderscope::source {

using Type = ThriftReader::Type;

ThriftWriter& ThriftWriter::i32(int id, std::int64_t value) {
  head(id, Type::i32);
  put_signed(value);
  return *this;
}

ThriftWriter& ThriftWriter::i64(int id, std::int64_t value) {
  head(id, Type::i64);
  put_signed(value);
  return *this;
}

ThriftWriter& ThriftWriter::text(int id, std::string_view value) {
  head(id, Type::text);
  put_text(value);
  return *this;
}

ThriftWriter& ThriftWriter::structure(int id, std::string_view written) {
  head(id, Type::structure);
  bytes_ += written;
  return *this;
}

ThriftWriter& ThriftWriter::i32s(int id, const std::vector<std::int64_t>& values) {
  list_head(id, Type::i32, values.size());
  for (const std::int64_t value : values) put_signed(value);
  return *this;
}

ThriftWriter& ThriftWriter::texts(int id, const std::vector<std::string>& values) {
  list_head(id, Type::text, values.size());
  for (const std::string& value : values) put_text(value);
  return *this;
}

ThriftWriter& ThriftWriter::structures(int id, const std::vector<std::string>& written) {
  list_head(id, Type::structure, written.size());
  for (const std::string& one : written) bytes_ += one;
  return *this;
}

// Numbers of fields count up by less than 16 in all that is written here.
void ThriftWriter::head(int id, Type type) {
  bytes_ += static_cast<char>((id - last_) << 4 | static_cast<int>(type));
  last_ = id;
}

void ThriftWriter::list_head(int id, Type type, std::size_t count) {
  head(id, Type::list);
  bytes_ += static_cast<char>(0xf0 | static_cast<int>(type));
  put_number(count);
}

void ThriftWriter::put_number(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
}

void ThriftWriter::put_signed(std::int64_t value) {
  put_number(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

void ThriftWriter::put_text(std::string_view value) {
  put_number(value.size());
  bytes_ += value;
}

}  // namespace loaderscope::source
