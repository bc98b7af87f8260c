// Level of detail of a printed answer: -v, -vv and --summary.
#pragma once

#include <string>

#include "cli/command_flags.h"
#include "loaderscope/report.h"

namespace loaderscope {

// The style of standard output for an answer. LOADERSCOPE_SUMMARY sets what --summary does not.
// Throws UsageError for a word other than compact and full.
ReportStyle answer_style(const DetailFlags& flags);
ReportStyle answer_style(const CommandFlags& flags);

// The same for a file, which has no width of a terminal and no colour.
void set_detail(ReportStyle& style, const DetailFlags& flags);

}  // namespace loaderscope
