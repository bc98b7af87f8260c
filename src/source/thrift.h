// Thrift's compact protocol, as Parquet writes its footers and the headers of pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope::source {

// Iterates over values in order. Throws ValueError, which continues "PATH: ", for malformed or
// truncated bytes.
class ThriftReader {
 public:
  // Type code before a value. For booleans, it is the value itself.
  enum class Type : std::uint8_t {
    stop = 0,
    yes = 1,
    no = 2,
    byte = 3,
    i16 = 4,
    i32 = 5,
    i64 = 6,
    real = 7,
    text = 8,
    list = 9,
    set = 10,
    map = 11,
    structure = 12,
  };
  struct Field {
    std::int64_t id = 0;
    Type type = Type::stop;
  };

  explicit ThriftReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // Calls `see` for each field. `see` reads the value and returns true, or returns false to skip
  // it.
  void read_fields(const std::function<bool(Field)>& see);
  std::int64_t integer(Field field);
  bool truth(Field field) const;
  std::string_view text(Field field);  // valid as long as the bytes
  // Reads a list of structures. `see` must read all fields of the structure with the given index.
  void read_list(Field field, const std::function<void(std::size_t)>& see);
  void skip_fields();  // skips the fields of a structure
  std::size_t bytes_read() const { return at_; }

 private:
  static constexpr int kMaxDeep = 40;

  std::uint8_t next_byte();
  std::uint64_t next_number();
  std::int64_t next_signed();
  std::span<const std::byte> next_bytes(std::uint64_t count);
  struct ListHead {
    std::size_t count = 0;
    Type type = Type::stop;
  };
  ListHead next_list_head();
  void skip(Type type, bool is_list_item);
  void skip_map();

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

// Writes a structure, field by field, in the order of their numbers.
class ThriftWriter {
 public:
  ThriftWriter& i32(int id, std::int64_t value);
  ThriftWriter& i64(int id, std::int64_t value);
  ThriftWriter& text(int id, std::string_view value);
  ThriftWriter& structure(int id, std::string_view written);
  ThriftWriter& i32s(int id, const std::vector<std::int64_t>& values);
  ThriftWriter& texts(int id, const std::vector<std::string>& values);
  ThriftWriter& structures(int id, const std::vector<std::string>& written);
  std::string finish() const { return bytes_ + '\0'; }

 private:
  void head(int id, ThriftReader::Type type);
  void list_head(int id, ThriftReader::Type type, std::size_t count);
  void put_number(std::uint64_t value);
  void put_signed(std::int64_t value);
  void put_text(std::string_view value);

  std::string bytes_;
  int last_ = 0;
};

}  // namespace loaderscope::source
