// The writers behind the rows of report_table(), of runs.
#pragma once

#include "loaderscope/report.h"

namespace loaderscope {

void write_run_table(std::ostream& out, const RunRecord& record, const Analysis& analysis,
                     const ReportStyle& style);
void write_csv(std::ostream& out, const RunRecord& record);
void write_markdown(std::ostream& out, const RunRecord& record, const Analysis& analysis);

}  // namespace loaderscope
