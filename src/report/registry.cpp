#include <algorithm>
#include <array>

#include "built_with.h"
#include "loaderscope/errors.h"
#include "report/kinds.h"
#include "report/schemas.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

void write_json_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  write_json(out, result);
}

void write_brief_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  write_brief(out, result);
}

void write_page_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  write_page(out, result);
}

void write_perfetto_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  write_perfetto(out, *result.record);
}

void write_chrome_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  write_chrome_trace(out, *result.record);
}

void write_csv_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  if (result.record != nullptr)
    write_csv(out, *result.record);
  else
    write_rows_csv(out, result);
}

void write_markdown_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  if (result.comparison != nullptr)
    compare::write_comparison_markdown(out, *result.comparison);
  else if (result.record == nullptr)
    write_reading_markdown(out, result);
  else
    write_markdown(out, *result.record, *result.analysis);
}

void write_junit_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  if (result.comparison != nullptr)
    compare::write_comparison_junit(out, *result.comparison);
  else if (result.record != nullptr)
    write_requirements_junit(out, *result.record, *result.analysis);
  else
    write_tests_junit(out, result);
}

void write_annotations_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  compare::write_comparison_annotations(out, *result.comparison);
}

bool has_rows(const ResultKind& kind) { return !kind.rows.empty(); }

// A run's are its requirements.
bool has_tests(const ResultKind& kind) { return !kind.tests.list.empty() || kind.read == nullptr; }

std::vector<std::string_view> kinds_that(bool (*has)(const ResultKind& kind)) {
  std::vector<std::string_view> kinds;
  for (const ResultKind& kind : result_kinds()) {
    if (has(kind)) kinds.push_back(kind.row.name);
  }
  return kinds;
}

}  // namespace

bool ReportRow::writes(std::string_view kind) const {
  return kinds.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::span<const ReportRow> report_table() {
  static const std::array<ReportRow, 10> rows = {{
      {{"table", "The answer and its evidence for people, in plain text."}, write_table},
      {{"brief", "One line per fact, PATH=VALUE, for logs and assistants; nothing where it is 0."},
       write_brief_row},
      {{"json", "All facts and numbers; what other commands read (see 'loaderscope list result')."},
       write_json_row},
      {{"html",
        "One page with the answer, its pictures and the result inside; it needs no network."},
       write_page_row},
      {{"perfetto",
        "A run as a trace for ui.perfetto.dev: its steps, and threads where all is kept."},
       write_perfetto_row,
       {"run"},
       false},
      {{"chrome", "A run as JSON for chrome://tracing and speedscope, packed by gzip.",
        reason_missing<built_with::kZlib>},
       write_chrome_row,
       {"run"},
       false},
      {{"csv", "One line per step of a run, per case of a sweep or a tune, per thing of others."},
       write_csv_row,
       kinds_that(has_rows)},
      {{"markdown", "A summary for a comment on a pull request."}, write_markdown_row},
      {{"junit", "The XML of tests: one for each requirement, quantity, delay or threshold."},
       write_junit_row,
       kinds_that(has_tests)},
      {{"annotations", "Write a comparison's findings as commands to GitHub, at most ten."},
       write_annotations_row,
       {"compare"}},
  }};
  return rows;
}

}  // namespace loaderscope
