// Records of a CSV file by RFC 4180: fields in quotes may contain commas, quotes and newlines.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace loaderscope::source {

class CsvReader {
 public:
  // The stream must outlive the reader. Skips a byte order mark.
  explicit CsvReader(std::istream& in);
  // Reads the next record, and skips empty lines. Returns false at the end. Throws ValueError with
  // the fault of the record.
  bool next(std::vector<std::string>& fields);
  std::int64_t line() const { return line_; }  // first line of the last record

 private:
  void read_quoted(std::string& field);
  int get();

  std::streambuf& in_;
  std::int64_t line_ = 1, next_line_ = 1;
};

}  // namespace loaderscope::source
