#pragma once

#include "loaderscope/report.h"

namespace loaderscope {

// Properties of standard output: its width, colour if it is a terminal (see NO_COLOR), and plots if
// it is a terminal with a UTF-8 locale.
ReportStyle standard_output_style();

}  // namespace loaderscope
