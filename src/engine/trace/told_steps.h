// The steps of a traced rank as events of a loader.
#pragma once

#include "engine/trace/traced_rank.h"
#include "record/recorder.h"

namespace loaderscope::traces {

// Steps as a loader of somebody else has them. A trace tells how much of a step's time each cause
// has, in many pieces; the account of a step has one idle time, in front of its compute: the pieces
// are drawn together there, which leaves all sums as they were. `zero`: of all times.
void tell_steps(Folder& folder, std::int32_t rank, const WalkedRank& walked,
                std::int64_t batch_size, Nanos zero);

// No trace tells whether a worker rested before it made a batch, nor what else was under way: the
// second label and the critical path are not known.
void forget_why(RankRecord& rank);

}  // namespace loaderscope::traces
