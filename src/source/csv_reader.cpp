#include "source/csv_reader.h"

#include "loaderscope/errors.h"

namespace loaderscope::source {
namespace {

constexpr int kEnd = std::char_traits<char>::eof();
// Beyond it a quote is missing: no path is as long.
constexpr std::size_t kMaxField = 64 * 1024;
constexpr std::size_t kMaxFields = 1024;

}  // namespace

CsvReader::CsvReader(std::istream& in) : in_(*in.rdbuf()) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (in_.sgetc() != 0xEF) return;
  for (std::size_t i = 0; i < kMark.size(); ++i) in_.sbumpc();
}

int CsvReader::get() {
  const int c = in_.sbumpc();
  if (c == '\n') ++next_line_;
  return c;
}

// Reads after the opening quote, up to and including the closing one.
void CsvReader::read_quoted(std::string& field) {
  for (;;) {
    const int c = get();
    if (c == kEnd) throw ValueError("a quote is opened and never closed");
    if (c == '"' && in_.sgetc() != '"') return;
    if (c == '"') in_.sbumpc();
    field += static_cast<char>(c);
    if (field.size() > kMaxField) throw ValueError("a field in quotes is longer than 64 KiB");
  }
}

bool CsvReader::next(std::vector<std::string>& fields) {
  std::size_t used = 0;
  const auto begin_field = [&] {
    if (used == kMaxFields) throw ValueError("there are more than 1024 fields");
    if (fields.size() == used) fields.emplace_back();
    fields[used++].clear();
  };
  line_ = next_line_;
  begin_field();
  bool quoted = false;
  for (;;) {
    const int c = get();
    std::string& field = fields[used - 1];
    if (c == '\r' && in_.sgetc() == '\n') continue;
    if (c == '\n' || c == kEnd) {
      if (used > 1 || !field.empty() || quoted) break;
      if (c == kEnd) return false;
      line_ = next_line_;
    } else if (c == ',') {
      begin_field();
      quoted = false;
    } else if (c == '"' && field.empty() && !quoted) {
      quoted = true;
      read_quoted(field);
    } else if (quoted) {
      throw ValueError("text follows a closing quote", "double a quote within quotes");
    } else {
      field += static_cast<char>(c);
      if (field.size() > kMaxField) throw ValueError("a field is longer than 64 KiB");
    }
  }
  fields.resize(used);
  return true;
}

}  // namespace loaderscope::source
