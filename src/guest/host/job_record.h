// What a measured job turned out to be, as the parts of its record.
#pragma once

#include <vector>

#include "guest/host/messages.h"
#include "guest/host/process_watch.h"
#include "guest/host/trainers.h"
#include "loaderscope/run_record.h"

namespace loaderscope::guest {

// Of a job that has ended and was started at `started`: its ranks, the settings in force, and what
// its GPUs did. `trainings` are by rank, and have folded all that they know; they are used up.
void put_trainings(RunRecord& record, const std::vector<Training*>& trainings, Nanos started);

// A note on the loader that is measured; nothing where none is.
void say_which_loader(RunRecord& record, const Trainers& trainers);

// What is known of the job beside the times of its batches. The ranks are in the record by now.
void put_beside_account(RunRecord& record, const Training* measured, const Messages& messages,
                        const ProcessWatch& watch);

}  // namespace loaderscope::guest
