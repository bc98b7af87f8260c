// The GPUs that the ranks of a record compute on.
#pragma once

#include "loaderscope/run_record.h"

namespace loaderscope {

// Returns the number of GPUs: one per rank, or fewer if a machine has fewer GPUs than ranks.
std::int64_t count_gpus(const RunRecord& record);
// Returns true if ranks share GPUs. The GPU may then compute for another rank while one waits.
bool shares_gpus(const RunRecord& record);

}  // namespace loaderscope
