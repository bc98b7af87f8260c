// Thrift's compact protocol, as Parquet writes its footers and the headers of pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace loaderscope::source {

// Goes through values, one after another. Throws ValueError, as it continues "PATH: ", for bytes
// that end early or are none of this.
class ThriftReader {
 public:
  // As they stand in front of a value; of truth values it is the value.
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

  // `see` reads a field's value and returns true, or has it skipped.
  void read_fields(const std::function<bool(Field)>& see);
  std::int64_t integer(Field field);
  bool truth(Field field) const;
  std::string_view text(Field field);  // valid as long as the bytes are
  // Of structures: `see` reads the fields of the one with this number, all of them.
  void read_list(Field field, const std::function<void(std::size_t)>& see);
  void skip_fields();  // of a structure
  std::size_t bytes_read() const { return at_; }

 private:
  static constexpr int kMostDeep = 40;

  std::uint8_t next_byte();
  std::uint64_t next_number();
  std::int64_t next_signed();
  std::span<const std::byte> next_bytes(std::uint64_t count);
  struct ListHead {
    std::size_t count = 0;
    Type type = Type::stop;
  };
  ListHead next_list_head();
  void skip(Type type, bool in_list);
  void skip_map();

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace loaderscope::source
