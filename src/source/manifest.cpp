#include "source/manifest.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <memory>
#include <span>
#include <streambuf>

#include "base/foreign_json.h"
#include "loaderscope/errors.h"
#include "source/store.h"

namespace loaderscope::source {
namespace {

constexpr std::size_t kMaxPath = 4096;  // Linux opens no longer one
constexpr std::size_t kMaxLine = 1 << 20;
constexpr std::int64_t kRowsBetweenLooks = 16 * 1024;  // rows between checks of the stop signal

class Rows {
 public:
  explicit Rows(const SourceContext& context) : context_(context) {}

  void add(std::string_view path, std::string_view label) {
    demand_path(path);
    const std::size_t slash = path.rfind('/');
    const std::size_t name = slash == std::string_view::npos ? 0 : slash + 1;
    builder_.add(folder_number(path.substr(0, name)), path.substr(name), labels_.add(label));
    if (builder_.samples() % kRowsBetweenLooks == 0) look_up();
  }

  std::int64_t size() const { return builder_.samples(); }

  Index finish(std::string_view identity) {
    builder_.relabel(labels_.labels());
    return builder_.finish(identity);
  }

 private:
  static void demand_path(std::string_view path) {
    if (path.empty() || path.back() == '/') throw ValueError("the path names no file");
    if (path.size() > kMaxPath) throw ValueError("the path is longer than 4096 bytes");
    if (path.find('\0') != std::string_view::npos) throw ValueError("the path holds a zero byte");
  }

  // `prefix` ends with its '/', so that each folder has one spelling.
  std::uint32_t folder_number(std::string_view prefix) {
    if (!folders_.empty() && prefix == last_prefix_) return last_folder_;
    auto found = folders_.find(prefix);
    if (found == folders_.end()) {
      FolderEntry folder;
      folder.root = prefix.starts_with('/') ? 1 : 0;
      folder.relative = prefix;
      found = folders_.emplace(std::string(prefix), builder_.add_folder(folder)).first;
    }
    last_prefix_ = found->first;
    return last_folder_ = found->second;
  }

  void look_up() const {
    context_.throw_if_stopped();
    if (context_.on_progress) context_.on_progress({"reading the manifest", builder_.samples(), 0});
  }

  const SourceContext& context_;
  IndexBuilder builder_;
  LabelNames labels_;
  TextNumbers folders_;
  std::string_view last_prefix_;
  std::uint32_t last_folder_ = 0;
};

void read_csv(CsvReader& reader, Rows& rows) {
  std::vector<std::string> fields;
  const auto find_column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(fields.begin(), fields.end(), name) - fields.begin());
  };
  if (!reader.next(fields)) {
    throw ValueError("the header is missing, a line such as \"path,label\"");
  }
  const std::size_t columns = fields.size();
  const std::size_t path = find_column("path"), label = find_column("label");
  if (path == columns) {
    throw ValueError("the header has no column 'path', as \"path,label\" has");
  }
  while (reader.next(fields)) {
    if (fields.size() != columns) {
      throw ValueError(std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields") +
                       " where the header has " + std::to_string(columns) +
                       " (a field that holds a comma needs quotes)");
    }
    rows.add(fields[path], label == columns ? std::string_view("0") : fields[label]);
  }
}

// `line` is where the record began that was read last.
void read_csv(std::istream& input, Rows& rows, std::int64_t& line) {
  CsvReader reader(input);
  try {
    read_csv(reader, rows);
  } catch (const ValueError&) {
    line = reader.line();
    throw;
  }
}

std::string label_to_text(const nlohmann::json& row) {
  const auto label = row.find("label");
  if (label == row.end()) return "0";
  if (label->is_string()) return label->get<std::string>();
  if (label->is_number_integer()) return label->dump();
  throw ValueError("'label' is neither a whole number nor a text");
}

void read_json_lines(std::istream& input, Rows& rows, std::int64_t& line) {
  line = 0;
  for (std::string text; std::getline(input, text);) {
    ++line;
    if (text.size() > kMaxLine) throw ValueError("the line is longer than 1 MiB");
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const nlohmann::json row = parse_foreign_json<nlohmann::json>(text);
    if (!row.is_object()) throw ValueError("expected an object such as {\"path\": \"a.jpg\"}");
    const auto path = row.find("path");
    if (path == row.end() || !path->is_string()) throw ValueError("'path' is missing or no text");
    rows.add(path->get_ref<const std::string&>(), label_to_text(row));
  }
}

// Sets the stream to bad if reading fails.
class ObjectText final : public std::streambuf {
 public:
  explicit ObjectText(StoredObject& object) : object_(object), chunk_(kAtOnce) {}

 private:
  static constexpr std::size_t kAtOnce = std::size_t{1} << 20;

  int_type underflow() override {
    std::size_t got = 0;
    try {
      got = object_.read(at_, std::as_writable_bytes(std::span(chunk_)));
    } catch (const ValueError& error) {
      throw std::ios_base::failure(error.what());
    }
    at_ += static_cast<Bytes>(got);
    setg(chunk_.data(), chunk_.data(), chunk_.data() + got);
    return got == 0 ? traits_type::eof() : traits_type::to_int_type(chunk_.front());
  }

  StoredObject& object_;
  std::vector<char> chunk_;
  Bytes at_ = 0;
};

std::unique_ptr<StoredObject> opened_manifest(const std::string& path) {
  try {
    return find_store(path).open(path);
  } catch (const ValueError& error) {
    throw add_place<RunError>(shown_text(path) + ": ", error);
  }
}

}  // namespace

Index index_manifest(const std::string& path, std::string_view identity,
                     const SourceContext& context) {
  const std::unique_ptr<StoredObject> object = opened_manifest(path);
  ObjectText text(*object);
  std::istream input(&text);
  return index_manifest(input, path, identity, context);
}

Index index_manifest(std::istream& input, const std::string& path, std::string_view identity,
                     const SourceContext& context) {
  const bool is_csv = path.ends_with(".csv");
  if (!is_csv && !path.ends_with(".jsonl")) {
    throw RunError(shown_text(path) + ": is no manifest by its name",
                   "give a file whose name ends in .csv or .jsonl");
  }
  Rows rows(context);
  std::int64_t line = 1;
  try {
    if (is_csv) {
      read_csv(input, rows, line);
    } else {
      read_json_lines(input, rows, line);
    }
  } catch (const ValueError& error) {
    throw RunError(
        shown_text(path) + ":" + std::to_string(line) + ": " + std::string(error.sentence()),
        error.hint().empty() ? "correct this line of the manifest" : std::string(error.hint()));
  } catch (const std::ios_base::failure&) {
    input.setstate(std::ios_base::badbit);
  }
  if (input.bad())
    throw RunError(shown_text(path) + ": cannot be read to its end", "check the storage");
  if (rows.size() == 0) {
    throw RunError(shown_text(path) + ": lists no files", "add a line for each");
  }
  return rows.finish(identity);
}

namespace {

constexpr int kEnd = std::char_traits<char>::eof();
// Beyond it a quote is missing: no path is as long.
constexpr std::size_t kMaxField = 64 * 1024;
constexpr std::size_t kMaxFields = 1024;

}  // namespace

CsvReader::CsvReader(std::istream& input) : input_(*input.rdbuf()) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (input_.sgetc() != 0xEF) return;
  for (std::size_t i = 0; i < kMark.size(); ++i) input_.sbumpc();
}

int CsvReader::get() {
  const int c = input_.sbumpc();
  if (c == '\n') ++next_line_;
  return c;
}

// Reads after the opening quote, up to and including the closing one.
void CsvReader::read_quoted(std::string& field) {
  for (;;) {
    const int c = get();
    if (c == kEnd) throw ValueError("a quote is opened and never closed");
    if (c == '"' && input_.sgetc() != '"') return;
    if (c == '"') input_.sbumpc();
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
    if (c == '\r' && input_.sgetc() == '\n') continue;
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

namespace {

bool parse_whole(std::string_view text, std::int32_t& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && value >= 0;
}

}  // namespace

std::int32_t LabelNames::add(std::string_view spelling) {
  auto found = known_.find(spelling);
  if (found == known_.end()) {
    found = known_.emplace(std::string(spelling), static_cast<std::uint32_t>(known_.size())).first;
  }
  return static_cast<std::int32_t>(found->second);
}

std::vector<std::int32_t> LabelNames::labels() const {
  std::vector<std::int32_t> result(known_.size());
  const bool all_numbers = std::all_of(known_.begin(), known_.end(), [&](const auto& entry) {
    return parse_whole(entry.first, result[entry.second]);
  });
  if (all_numbers) return result;
  std::vector<std::pair<std::string_view, std::uint32_t>> sorted(known_.begin(), known_.end());
  std::sort(sorted.begin(), sorted.end());
  std::int32_t place = 0;
  for (const auto& [spelling, number] : sorted) result[number] = place++;
  return result;
}

}  // namespace loaderscope::source
