// A list of a result as CSV, and as tests.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "page/escape.h"
#include "report/rows_form.h"
#include "report/schemas.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

const std::string* value_at(const ResultRow& row, const std::string& path) {
  const auto cell =
      std::find_if(row.begin(), row.end(), [&](const ResultCell& one) { return one.path == path; });
  return cell == row.end() ? nullptr : &cell->value;
}

// Returns the columns of all rows, each at its place in the first row that has it.
std::vector<std::string> names_in(const std::vector<ResultRow>& rows) {
  std::vector<std::string> columns;
  for (const ResultRow& row : rows) {
    auto behind = columns.begin();
    for (const ResultCell& cell : row) {
      auto known = std::find(columns.begin(), columns.end(), cell.path);
      if (known == columns.end()) known = columns.insert(behind, cell.path);
      behind = known + 1;
    }
  }
  return columns;
}

struct TestCase {
  std::string name, message;
  std::optional<bool> passed;  // empty if it cannot be determined
};

// Makes a test whose name is the text cells before the flag.
TestCase test_of(const ResultRow& row, const std::string& flag) {
  TestCase test;
  if (const std::string* passed = value_at(row, flag)) test.passed = *passed != "false";
  for (const ResultCell& cell : row) {
    if (cell.is_text && test.message.empty())
      test.name += (test.name.empty() ? "" : " ") + cell.value;
    else if (cell.path != flag)
      test.message +=
          fmt::format("{}{}={}", test.message.empty() ? "" : ", ", cell.path, cell.value);
  }
  return test;
}

void write_case(std::ostream& out, std::string_view kind, const TestCase& test) {
  out << fmt::format("    <testcase classname=\"loaderscope.{}\" name=\"{}\">\n", kind,
                     in_xml(test.name));
  const std::string message = in_xml(test.message);
  if (!test.passed)
    out << fmt::format("      <skipped message=\"{}\"/>\n", message);
  else if (!*test.passed)
    out << fmt::format("      <failure message=\"{}\"/>\n", message);
  else
    out << fmt::format("      <system-out>{}</system-out>\n", message);
  out << "    </testcase>\n";
}

void write_suite(std::ostream& out, std::string_view kind, const std::vector<TestCase>& tests) {
  std::int64_t failures = 0, skipped = 0;
  for (const TestCase& test : tests) {
    skipped += test.passed ? 0 : 1;
    failures += test.passed.value_or(true) ? 0 : 1;
  }
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" skipped=\"{}\" errors=\"0\"",
                                         tests.size(), failures, skipped);
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out << fmt::format("<testsuites name=\"loaderscope\" {}>\n", counts);
  out << fmt::format("  <testsuite name=\"loaderscope.{}\" {}>\n", kind, counts);
  for (const TestCase& test : tests) write_case(out, kind, test);
  out << "  </testsuite>\n</testsuites>\n";
}

}  // namespace

void write_rows_csv(std::ostream& out, const AnyResult& result) {
  const std::vector<ResultRow> rows = rows_of(result, find_row(result.kind, result_kinds()).rows);
  const std::vector<std::string> columns = names_in(rows);
  std::string header = "case";
  for (const std::string& column : columns) header += "," + quoted(column);
  out << header << '\n';
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string line = std::to_string(i);
    for (const std::string& column : columns) {
      const std::string* value = value_at(rows[i], column);
      line += "," + (value == nullptr ? "" : quoted(*value));
    }
    out << line << '\n';
  }
}

void write_tests_junit(std::ostream& out, const AnyResult& result) {
  const ResultKind& kind = find_row(result.kind, result_kinds());
  std::vector<TestCase> tests;
  for (const ResultRow& row : rows_of(result, kind.tests.list))
    tests.push_back(test_of(row, std::string(kind.tests.flag)));
  write_suite(out, result.kind, tests);
}

void write_requirements_junit(std::ostream& out, const RunRecord& record,
                              const Analysis& analysis) {
  using Outcome = RequirementResult::Outcome;
  std::vector<TestCase> tests;
  for (const std::string& text : record.config.answer.require.value) {
    const RequirementResult result = evaluate_requirement(text, record, analysis);
    TestCase& test = tests.emplace_back(TestCase{text, result.sentence, std::nullopt});
    if (result.outcome != Outcome::cannot_tell) test.passed = result.outcome == Outcome::met;
  }
  // A suite without tests passes for one that was met.
  if (tests.empty())
    tests.push_back(
        {"requirements", "none was given: --require 'device.busy >= 0.85'", std::nullopt});
  write_suite(out, "run", tests);
}

}  // namespace loaderscope
