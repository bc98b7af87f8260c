#pragma once

#include "loaderscope/report.h"

namespace loaderscope {

// What standard output can show: its width, and where it is a terminal colour, if that wants it
// (NO_COLOR), and plots, if its locale is of UTF-8.
ReportStyle standard_output_style();

}  // namespace loaderscope
