// Conclusion of the verdict, after the gain of each change is known.
#pragma once

#include "loaderscope/analysis.h"

namespace loaderscope {

// Completes the verdict. If no change helps, it blames no stage. It names other programs if they
// cause most of the idle time, and otherwise the GPU, unless that waits too long to be the limit.
// If a change helps, the first line names the causes that it removes.
void conclude(Analysis& analysis, const RunRecord& record);

}  // namespace loaderscope
