// Times of one clock on another's.
#pragma once

#include "loaderscope/run_record.h"

namespace loaderscope {

// Adds `by` to every point in time of the rank. Throws RunError when a spill file fails.
void shift_times(RankRecord& rank, Nanos by);

}  // namespace loaderscope
