#include <algorithm>
#include <array>

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

void write_csv_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  write_csv(out, *result.record);
}

void write_markdown_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  if (result.comparison != nullptr)
    compare::write_comparison_markdown(out, *result.comparison);
  else
    write_markdown(out, *result.record, *result.analysis);
}

void write_junit_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  compare::write_comparison_junit(out, *result.comparison);
}

void write_annotations_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  compare::write_comparison_annotations(out, *result.comparison);
}

}  // namespace

bool ReportRow::writes(std::string_view kind) const {
  return kinds.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::span<const ReportRow> report_table() {
  static const std::array<ReportRow, 9> rows = {{
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
      {{"csv", "One line per step of a run: its times, and the nanoseconds of every cause."},
       write_csv_row,
       {"run"}},
      {{"markdown", "A summary of a run or a comparison for a comment on a pull request."},
       write_markdown_row,
       {"run", "compare"}},
      {{"junit", "A comparison as the XML of tests: one for each quantity."},
       write_junit_row,
       {"compare"}},
      {{"annotations", "What a comparison found as commands to GitHub: at most ten."},
       write_annotations_row,
       {"compare"}},
  }};
  return rows;
}

}  // namespace loaderscope
