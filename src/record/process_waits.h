// Waits of ranks for each other, where processes made them that did not see each other's.
#pragma once

#include "loaderscope/run_record.h"

namespace loaderscope {

// Each of the job's `hosts` is one process, folded with FoldOptions::ranks_elsewhere, and the times
// of all are on one clock. What all ranks of a process waited for the slowest of another is booked
// from `launch` to what that one waited for meanwhile, as the folder books it within a process; to
// `other` where the slowest is not among the ranks. A row does not say when its causes were: before
// the batch is there its start-up comes first, then its samples, then collating, then its way to
// the trainer. The critical path of ranks that waited is not known afterwards. Throws RunError when
// a spill file cannot be read or written.
void book_process_waits(RunRecord& job);

}  // namespace loaderscope
