// Records of a CSV file as RFC 4180 has them: fields in quotes may hold commas, quotes and
// newlines.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace loaderscope::source {

class CsvReader {
 public:
  // The stream must outlive the reader. A byte order mark in front is passed over.
  explicit CsvReader(std::istream& in);
  // Reads the next record that is not an empty line; false at the end. `what` of the ValueError
  // says what is wrong with it.
  bool next(std::vector<std::string>& fields);
  std::int64_t line() const { return line_; }  // where the last record began

 private:
  void read_quoted(std::string& field);
  int get();

  std::streambuf& in_;
  std::int64_t line_ = 1, next_line_ = 1;
};

}  // namespace loaderscope::source
