#include "source/thrift.h"

#include "loaderscope/errors.h"

namespace loaderscope::source {
namespace {

[[noreturn]] void fail_as_damaged(const char* why) {
  throw ValueError(std::string("is damaged: ") + why);
}

constexpr int kNumberBits = 64;

}  // namespace

std::uint8_t ThriftReader::next_byte() {
  if (at_ == bytes_.size()) fail_as_damaged("what describes it ends early");
  return static_cast<std::uint8_t>(bytes_[at_++]);
}

std::uint64_t ThriftReader::next_number() {
  std::uint64_t number = 0;
  for (int shift = 0; shift < kNumberBits; shift += 7) {
    const std::uint64_t byte = next_byte();
    number |= (byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  fail_as_damaged("what describes it holds a number of more than 64 bits");
}

std::int64_t ThriftReader::next_signed() {
  const std::uint64_t number = next_number();
  return static_cast<std::int64_t>((number >> 1) ^ (~(number & 1) + 1));
}

std::span<const std::byte> ThriftReader::next_bytes(std::uint64_t count) {
  if (count > bytes_.size() - at_) fail_as_damaged("what describes it ends early");
  const auto bytes = bytes_.subspan(at_, count);
  at_ += count;
  return bytes;
}

void ThriftReader::read_fields(const std::function<bool(Field)>& see) {
  if (++depth_ > kMaxDeep) fail_as_damaged("what describes it is nested too deeply");
  Field field;
  for (;;) {
    const std::uint8_t head = next_byte();
    field.type = static_cast<Type>(head & 0xf);
    if (field.type == Type::stop) break;
    const std::int64_t step = head >> 4;
    const std::int64_t id = step != 0 ? field.id + step : next_signed();
    if (id < 0 || id > 0x7fff) fail_as_damaged("what describes it has a field without a number");
    field.id = id;
    if (!see(field)) skip(field.type, false);
  }
  --depth_;
}

void ThriftReader::skip_fields() {
  read_fields([](Field) { return false; });
}

std::int64_t ThriftReader::integer(Field field) {
  if (field.type == Type::i16 || field.type == Type::i32 || field.type == Type::i64)
    return next_signed();
  fail_as_damaged("what describes it has something else instead of a number");
}

bool ThriftReader::truth(Field field) const {
  if (field.type == Type::yes || field.type == Type::no) return field.type == Type::yes;
  fail_as_damaged("what describes it has something else instead of a truth value");
}

std::string_view ThriftReader::text(Field field) {
  if (field.type != Type::text)
    fail_as_damaged("what describes it has something else instead of a name");
  const auto bytes = next_bytes(next_number());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// An element has a byte at least.
ThriftReader::ListHead ThriftReader::next_list_head() {
  const std::uint8_t head = next_byte();
  const std::uint64_t count = head >> 4 == 0xf ? next_number() : head >> 4;
  if (count > bytes_.size() - at_) fail_as_damaged("what describes it ends early");
  return {count, static_cast<Type>(head & 0xf)};
}

void ThriftReader::read_list(Field field, const std::function<void(std::size_t)>& see) {
  if (field.type != Type::list)
    fail_as_damaged("what describes it has something else instead of a list");
  const ListHead head = next_list_head();
  if (head.type != Type::structure && head.count > 0)
    fail_as_damaged("what describes it has a list of something else");
  for (std::size_t i = 0; i < head.count; ++i) see(i);
}

void ThriftReader::skip_map() {
  const std::uint64_t count = next_number();
  if (count == 0) return;
  const std::uint8_t types = next_byte();
  if (count > bytes_.size() - at_) fail_as_damaged("what describes it ends early");
  for (std::uint64_t i = 0; i < count; ++i) {
    skip(static_cast<Type>(types >> 4), true);
    skip(static_cast<Type>(types & 0xf), true);
  }
}

// Truth values have a byte of their own in lists.
void ThriftReader::skip(Type type, bool is_list_item) {
  switch (type) {
    case Type::yes:
    case Type::no:
      if (is_list_item) next_byte();
      return;
    case Type::byte:
      next_byte();
      return;
    case Type::i16:
    case Type::i32:
    case Type::i64:
      next_number();
      return;
    case Type::real:
      next_bytes(sizeof(double));
      return;
    case Type::text:
      next_bytes(next_number());
      return;
    case Type::structure:
      return skip_fields();
    case Type::list:
    case Type::set:
    case Type::map:
      break;
    default:
      fail_as_damaged("what describes it has a value of no kind");
  }
  if (++depth_ > kMaxDeep) fail_as_damaged("what describes it is nested too deeply");
  if (type == Type::map) {
    skip_map();
  } else {
    const ListHead head = next_list_head();
    for (std::size_t i = 0; i < head.count; ++i) skip(head.type, true);
  }
  --depth_;
}

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
