// The writers behind the rows of report_table().
#pragma once

#include "loaderscope/report.h"

namespace loaderscope {

void write_table_report(std::ostream& out, const RunRecord& record, const Analysis& analysis,
                        const ReportStyle& style);
void write_json_report(std::ostream& out, const RunRecord& record, const Analysis& analysis,
                       const ReportStyle& style);
void write_csv_report(std::ostream& out, const RunRecord& record, const Analysis& analysis,
                      const ReportStyle& style);
void write_markdown_report(std::ostream& out, const RunRecord& record, const Analysis& analysis,
                           const ReportStyle& style);

}  // namespace loaderscope
