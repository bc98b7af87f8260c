#include <array>

#include "loaderscope/errors.h"
#include "report/schemas.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

void write_table_row(std::ostream& out, const AnyResult& result, const ReportStyle& style) {
  result.print(out, style);
}

void write_json_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  write_json(out, result);
}

void write_csv_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  write_csv(out, *result.record);
}

void write_markdown_row(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  write_markdown(out, *result.record, *result.analysis);
}

}  // namespace

std::span<const ReportRow> report_table() {
  static const std::array<ReportRow, 4> rows = {{
      {{"table", "The answer and its evidence for people, in plain text."}, write_table_row},
      {{"json", "All facts and numbers; what other commands read (see 'loaderscope list result')."},
       write_json_row},
      {{"csv", "One line per step of a run: its times, and the nanoseconds of every cause."},
       write_csv_row,
       true},
      {{"markdown", "A summary of a run for a comment on a pull request."},
       write_markdown_row,
       true},
  }};
  return rows;
}

}  // namespace loaderscope
