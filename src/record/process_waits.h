// Waits of ranks for each other across processes that could not see each other's waits.
#pragma once

#include "loaderscope/run_record.h"

namespace loaderscope {

// Each of the job's `hosts` is one process, folded with FoldOptions::ranks_elsewhere, and all times
// are on one clock. A wait that all ranks of a process share is a wait for the slowest rank of
// another process. It is moved from `launch` to the causes of the slowest rank at that time, as the
// folder books it within a process. If the slowest rank is missing, it is moved to `other`. A row
// does not contain the times of its causes. Before the batch is there, the order is start-up,
// samples, collating, and the way to the trainer. The critical path of ranks that waited is unknown
// afterwards. Throws RunError if a spill file cannot be read or written.
void book_process_waits(RunRecord& job);

}  // namespace loaderscope
