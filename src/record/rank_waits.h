// Waits of ranks for each other that no process saw: inside a program's collectives, where they
// look like compute, and across processes.
#pragma once

#include <string>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Books waits inside collectives. If ranks begin to compute at different times and end their steps
// together, the first ones have waited for the last. The wait is moved from their compute to the
// causes that only the last rank has, and to `waiting_for_ranks`, as with a barrier before compute.
// Returns false and changes nothing if the ranks do not step together. The critical path of ranks
// that waited is unknown afterwards. Throws RunError if a spill file cannot be read or written.
bool book_rank_waits(std::vector<RankRecord>& ranks);

// Does the same for a job whose hosts have their own clocks. If the clocks were compared, the times
// of a rank are on the first host's clock at the begin of the rank's window. They drift from it by
// the host's `clock.drift_rate`. Without a comparison, the ends of steps give the clock
// differences, as ranks that wait for each other end a step together.
bool book_host_waits(RunRecord& job);

// Returns the end of a sentence on booked waits, if a rank has fewer steps than others. Example: ";
// from step 20 on one rank at least has none, and of the 980 that are left such waits stay compute"
std::string describe_unbooked_waits(const std::vector<RankRecord>& ranks);

// Each of the job's `hosts` is one process, folded with FoldOptions::ranks_elsewhere, and all times
// are on one clock. A wait that all ranks of a process share is a wait for the slowest rank of
// another process. It is moved from `launch` to the causes of the slowest rank at that time, as the
// folder books it within a process. If the slowest rank is missing, it is moved to `other`. A row
// does not contain the times of its causes. Before the batch is there, the order is start-up,
// samples, collating, and the way to the trainer. The critical path of ranks that waited is unknown
// afterwards. Throws RunError if a spill file cannot be read or written.
void book_process_waits(RunRecord& job);

}  // namespace loaderscope
