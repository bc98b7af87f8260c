// The verdict, once it is known what each change gives.
#pragma once

#include "loaderscope/analysis.h"

namespace loaderscope {

// Where nothing is worth doing no stage is blamed: other programs are named if they cause most of
// the idle time, else the GPU is the limit, as far as it is busy. Where something is worth doing
// the first line names what that mends.
void conclude(Analysis& analysis, const RunRecord& record);

}  // namespace loaderscope
