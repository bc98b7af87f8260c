#include <array>

#include "report/json_writer.h"
#include "report/writers.h"

namespace loaderscope {

void write_json_report(std::ostream& out, const RunRecord& record, const Analysis& analysis,
                       const ReportStyle&) {
  write_json(out, record, analysis, JsonScope::full);
}

std::span<const ReportRow> report_table() {
  static const std::array<ReportRow, 4> rows = {{
      {{"table", "The answer and its evidence for people, in plain text."}, write_table_report},
      {{"json", "All facts and numbers; what other commands read (schema loaderscope.run/1)."},
       write_json_report},
      {{"csv", "One line per step: its times, and the nanoseconds of every cause."},
       write_csv_report},
      {{"markdown", "A summary for a comment on a pull request."}, write_markdown_report},
  }};
  return rows;
}

}  // namespace loaderscope
