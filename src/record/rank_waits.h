// Waits of ranks for each other that were seen as compute: those in a program's collectives.
#pragma once

#include <string>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Where ranks that began to compute apart end their steps together, the ones that began first have
// waited for the last. Such a wait is taken out of their compute and booked to what that rank
// waited for and they did not: `waiting_for_ranks`, as with a barrier before compute. False where
// the ranks go their own ways; nothing is changed then. The critical path of ranks that waited is
// not known afterwards. Throws RunError when a spill file cannot be read or written.
bool book_rank_waits(std::vector<RankRecord>& ranks);

// The same of a job whose hosts have clocks of their own. Where these were compared, times of a
// rank are on the first one's as it was when the rank's window began, and drift from it as the
// host's `clock.drift_rate` says. Where they were not, the ends of steps, which ranks that wait for
// each other have together, say how far they are apart.
bool book_host_waits(RunRecord& job);

// Behind words on waits that were booked, where a rank has fewer steps than others: "; from step 20
// on one rank at least has none, and of the 980 that are left such waits stay compute"
std::string describe_unbooked_waits(const std::vector<RankRecord>& ranks);

}  // namespace loaderscope
