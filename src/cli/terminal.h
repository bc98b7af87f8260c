#pragma once

#include "loaderscope/report.h"

namespace loaderscope {

// What standard output can show: its width, and colour where it is a terminal that wants it
// (NO_COLOR).
ReportStyle standard_output_style(bool verbose);

}  // namespace loaderscope
