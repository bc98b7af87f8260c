// The index of a manifest: a list of files with their labels, in its own order.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "source/index.h"
#include "source/options.h"

namespace loaderscope::source {

// `path` ends in .csv (a header with `path` and perhaps `label`, in any order, other columns are
// passed over) or .jsonl (one {"path": ..., "label": ...} a line). Paths are relative to the
// manifest's folder, which is root 0, or absolute, which is root 1 (""). Labels are whole numbers,
// or names, numbered in their order by bytes; without labels they are 0. No file is looked at.
// Throws RunError.
Index index_manifest(const std::string& path, std::string_view identity,
                     const SourceContext& context);
// The same of a manifest that is open already.
Index index_manifest(std::istream& input, const std::string& path, std::string_view identity,
                     const SourceContext& context);

// Records of a CSV file by RFC 4180: fields in quotes may contain commas, quotes and newlines.
class CsvReader {
 public:
  // The stream must outlive the reader. Skips a byte order mark.
  explicit CsvReader(std::istream& input);
  // Reads the next record, and skips empty lines. Returns false at the end. Throws ValueError with
  // the fault of the record.
  bool next(std::vector<std::string>& fields);
  std::int64_t line() const { return line_; }  // first line of the last record

 private:
  void read_quoted(std::string& field);
  int get();

  std::streambuf& input_;
  std::int64_t line_ = 1, next_line_ = 1;
};

// Labels as a manifest spells them. They become numbers once all are known.

// Lets a map of strings be asked with a view.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
using TextNumbers = std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>>;

class LabelNames {
 public:
  // Returns the temporary number of `spelling`.
  std::int32_t add(std::string_view spelling);
  // Returns the label of each temporary number. If all spellings are whole numbers from 0 to 2^31 -
  // 1, labels are these numbers. Otherwise, labels are ranks of the names.
  std::vector<std::int32_t> labels() const;

 private:
  TextNumbers known_;
};

}  // namespace loaderscope::source
