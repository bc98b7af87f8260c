// A list of a result as CSV, and as tests.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "page/escape.h"
#include "report/flat_walk.h"
#include "report/schemas.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

struct ResultCell {
  std::string path, value;  // "samples_per_s.mean"; a list has its words or its size
  bool is_text = false;
};
using ResultRow = std::vector<ResultCell>;

// The elements of the top-level list `name`.
class RowsForm : public FlatWalk {
 public:
  explicit RowsForm(std::string_view name) : FlatWalk(VisitMode::write), name_(name) {}

  std::vector<ResultRow> take() { return std::move(rows_); }

 protected:
  void visit(const FlatValue& value) override {
    if (!is_in_element() || value.type == Type::null) return;
    if (list_level_ == 0) {
      put(value_path(value.name), value.text, value.type == Type::text);
    } else if (list_level_ == levels().size()) {
      ++items_;
      texts_.append(texts_.empty() ? "" : " ").append(value.text);
    }
  }

  void opened() override {
    const Level& level = levels().back();
    if (levels().size() == kElement && levels().front().name == name_ &&
        level.shape == Shape::object)
      rows_.emplace_back();
    if (list_level_ > 0) {
      ++items_;
    } else if (level.shape == Shape::list && levels().size() > kElement) {
      list_level_ = levels().size();
      items_ = 0;
      texts_.clear();
    }
  }

  void closed() override {
    if (list_level_ != levels().size()) return;
    list_level_ = 0;
    if (is_in_element()) put(path(), texts_.empty() ? std::to_string(items_) : texts_, false);
  }

 private:
  static constexpr std::size_t kElement = 2;  // number of levels: the list, and an element

  bool is_in_element() const {
    return levels().size() >= kElement && levels().front().name == name_ &&
           levels().front().shape == Shape::list;
  }

  void put(std::string_view path, std::string_view value, bool is_text) {
    path.remove_prefix(element_length() + 1);
    rows_.back().push_back({std::string(path), std::string(value), is_text});
  }

  // Returns the length of the path of the element: "cases.0".
  std::size_t element_length() const {
    return levels().size() > kElement ? levels()[kElement].parent_length : path().size();
  }

  std::string_view name_;
  std::vector<ResultRow> rows_;
  std::size_t list_level_ = 0;  // number of the outermost list in the element; 0: none
  std::size_t items_ = 0;       // number of values and levels in that list
  std::string texts_;           // joined values of that list
};

std::vector<ResultRow> list_rows(const AnyResult& result, std::string_view name) {
  RowsForm form(name);
  result.describe(form);
  return form.take();
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

const std::string* cell_at(const ResultRow& row, const std::string& path) {
  const auto cell =
      std::find_if(row.begin(), row.end(), [&](const ResultCell& one) { return one.path == path; });
  return cell == row.end() ? nullptr : &cell->value;
}

// Returns the columns of all rows, each at its place in the first row that has it.
std::vector<std::string> row_names(const std::vector<ResultRow>& rows) {
  std::vector<std::string> columns;
  for (const ResultRow& row : rows) {
    auto after = columns.begin();
    for (const ResultCell& cell : row) {
      auto known = std::find(columns.begin(), columns.end(), cell.path);
      if (known == columns.end()) known = columns.insert(after, cell.path);
      after = known + 1;
    }
  }
  return columns;
}

// Makes a test whose name is the text cells before the flag.
JUnitTest row_test(const ResultRow& row, const std::string& flag) {
  JUnitTest test;
  if (const std::string* passed = cell_at(row, flag)) test.passed = *passed != "false";
  for (const ResultCell& cell : row) {
    if (cell.is_text && test.message.empty())
      test.name += (test.name.empty() ? "" : " ") + cell.value;
    else if (cell.path != flag)
      test.message +=
          fmt::format("{}{}={}", test.message.empty() ? "" : ", ", cell.path, cell.value);
  }
  return test;
}

void write_case(std::ostream& out, std::string_view kind, const JUnitTest& test) {
  out << fmt::format("    <testcase classname=\"loaderscope.{}\" name=\"{}\">\n", kind,
                     escape_xml(test.name));
  const std::string message = escape_xml(test.message);
  if (!test.passed)
    out << fmt::format("      <skipped message=\"{}\"/>\n", message);
  else if (!*test.passed)
    out << fmt::format("      <failure message=\"{}\"/>\n", message);
  else
    out << fmt::format("      <system-out>{}</system-out>\n", message);
  out << "    </testcase>\n";
}

void write_suite(std::ostream& out, std::string_view kind, const JUnitSuite& suite) {
  std::int64_t failures = 0, skipped = 0;
  for (const JUnitTest& test : suite.tests) {
    skipped += test.passed ? 0 : 1;
    failures += test.passed.value_or(true) ? 0 : 1;
  }
  std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" skipped=\"{}\" errors=\"0\"",
                                   suite.tests.size(), failures, skipped);
  if (suite.duration) counts += fmt::format(" time=\"{:.3f}\"", seconds(*suite.duration));
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out << fmt::format("<testsuites name=\"loaderscope\" {}>\n", counts);
  out << fmt::format("  <testsuite name=\"loaderscope.{}\" {}>\n", kind, counts);
  for (const JUnitTest& test : suite.tests) write_case(out, kind, test);
  out << "  </testsuite>\n</testsuites>\n";
}

}  // namespace

void write_rows_csv(std::ostream& out, const AnyResult& result) {
  const std::vector<ResultRow> rows = list_rows(result, find_row(result.kind, result_kinds()).rows);
  const std::vector<std::string> columns = row_names(rows);
  std::string header = "case";
  for (const std::string& column : columns) header += "," + quoted(column);
  out << header << '\n';
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string line = std::to_string(i);
    for (const std::string& column : columns) {
      const std::string* value = cell_at(rows[i], column);
      line += "," + (value == nullptr ? "" : quoted(*value));
    }
    out << line << '\n';
  }
}

void write_junit(std::ostream& out, const AnyResult& result) {
  const ResultKind& kind = find_row(result.kind, result_kinds());
  if (kind.own.tests != nullptr) return write_suite(out, result.kind, kind.own.tests(result));
  JUnitSuite suite;
  for (const ResultRow& row : list_rows(result, kind.tests.list))
    suite.tests.push_back(row_test(row, std::string(kind.tests.flag)));
  write_suite(out, result.kind, suite);
}

JUnitSuite requirement_tests(const AnyResult& result) {
  using Outcome = RequirementResult::Outcome;
  JUnitSuite suite;
  for (const std::string& text : result.record->config.answer.require.value) {
    const RequirementResult answer = evaluate_requirement(text, *result.record, *result.analysis);
    JUnitTest& test = suite.tests.emplace_back(JUnitTest{text, answer.sentence, std::nullopt});
    if (answer.outcome != Outcome::cannot_tell) test.passed = answer.outcome == Outcome::met;
  }
  // A suite without tests passes for one that was met.
  if (suite.tests.empty())
    suite.tests.push_back(
        {"requirements", "none was given: --require 'device.busy >= 0.85'", std::nullopt});
  return suite;
}

}  // namespace loaderscope
