// The GPUs that the ranks of a record compute on.
#pragma once

#include "loaderscope/run_record.h"

namespace loaderscope {

// As many as there are ranks, unless a machine has fewer of them than it has ranks.
std::int64_t gpus_of(const RunRecord& record);
// What one of them waits is then no time that its GPU loses: another may compute.
bool shares_gpus(const RunRecord& record);

}  // namespace loaderscope
