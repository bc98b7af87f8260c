// Parquet files as other people's libraries write them, and as they should not be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "unit/source/container_bytes.h"

namespace loaderscope::source {

// A structure of Thrift's compact protocol, field by field.
class ThriftBytes {
 public:
  ThriftBytes& number(int id, std::int64_t value) {
    head(id, 6);
    return signed_number(value);
  }
  ThriftBytes& text(int id, std::string_view value) {
    head(id, 8);
    put(value.size());
    bytes_ += value;
    return *this;
  }
  ThriftBytes& structure(int id, const std::string& value) {
    head(id, 12);
    bytes_ += value;
    return *this;
  }
  ThriftBytes& list(int id, const std::vector<std::string>& structures) {
    head(id, 9);
    bytes_ += '\xfc';
    put(structures.size());
    for (const std::string& one : structures) bytes_ += one;
    return *this;
  }
  std::string finish() const { return bytes_ + '\0'; }

 private:
  void head(int id, int type) {
    bytes_ += static_cast<char>((id - last_) << 4 | type);
    last_ = id;
  }
  ThriftBytes& signed_number(std::int64_t value) {
    put(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
    return *this;
  }
  void put(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
  int last_ = 0;
};

// A page of version 1 that is not compressed.
inline std::string parquet_page(std::string_view values, std::int64_t count,
                                std::int64_t encoding = 0) {
  const std::string head =
      ThriftBytes().number(1, count).number(2, encoding).number(3, 3).number(4, 3).finish();
  const auto size = static_cast<std::int64_t>(values.size());
  return ThriftBytes().number(1, 0).number(2, size).number(3, size).structure(5, head).finish() +
         std::string(values);
}

inline std::string plain_value(std::string_view value) {
  return number_bytes(static_cast<std::uint32_t>(value.size())) + std::string(value);
}

// A row group of one column, as its pages and what the footer says of it.
struct ParquetGroupBytes {
  std::string pages;
  std::int64_t rows = 0;
  std::int64_t codec = 0;
};

// A file with one column, "image", that is never null.
inline std::string parquet_bytes(const std::vector<ParquetGroupBytes>& groups) {
  std::string bytes = "PAR1";
  std::vector<std::string> described;
  std::int64_t rows = 0;
  for (const ParquetGroupBytes& group : groups) {
    const auto begin = static_cast<std::int64_t>(bytes.size());
    const auto size = static_cast<std::int64_t>(group.pages.size());
    bytes += group.pages;
    const std::string facts = ThriftBytes()
                                  .number(1, 6)
                                  .number(4, group.codec)
                                  .number(5, group.rows)
                                  .number(6, size)
                                  .number(7, size)
                                  .number(9, begin)
                                  .finish();
    const std::string column = ThriftBytes().number(2, begin).structure(3, facts).finish();
    described.push_back(
        ThriftBytes().list(1, {column}).number(2, size).number(3, group.rows).finish());
    rows += group.rows;
  }
  const std::string root = ThriftBytes().text(4, "schema").number(5, 1).finish();
  const std::string leaf = ThriftBytes().number(1, 6).number(3, 0).text(4, "image").finish();
  const std::string footer =
      ThriftBytes().number(1, 1).list(2, {root, leaf}).number(3, rows).list(4, described).finish();
  return bytes + footer + number_bytes(static_cast<std::uint32_t>(footer.size())) + "PAR1";
}

// Groups of three rows, in pages of two and one.
inline std::string parquet_file_bytes(const std::vector<std::string>& values) {
  std::vector<ParquetGroupBytes> groups;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 3 == 0) groups.emplace_back();
    const bool is_second = i % 3 == 1;
    const bool is_pair = i % 3 == 0 && i + 1 < values.size();
    ++groups.back().rows;
    if (is_second) continue;
    groups.back().pages +=
        is_pair ? parquet_page(plain_value(values[i]) + plain_value(values[i + 1]), 2)
                : parquet_page(plain_value(values[i]), 1);
  }
  return parquet_bytes(groups);
}

}  // namespace loaderscope::source
