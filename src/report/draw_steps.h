// The steps of a run, and who made them, as pictures.
#pragma once

#include <string>

#include "loaderscope/analysis.h"
#include "loaderscope/run_record.h"
#include "loaderscope/vocabulary.h"

namespace loaderscope {

// Of the first rank, over their numbers: what each went to. A million of them are a few hundred
// stretches with a mean and a longest step.
std::string draw_step_times(const RunRecord& record);

// How many batches lay ready when the trainer asked: none is why it waits, all is a loader that
// does.
std::string draw_ready(const RunRecord& record);

// Of a job on several hosts: what each computes, and waits for by itself and for slower ranks.
std::string draw_hosts(const RunRecord& record, const Analysis& analysis);

// What every worker, the link and the device did in a step like most, and before the worst stalls.
std::string draw_exemplars(const RunRecord& record);
// Where the worst stall for a cause is drawn, if any is.
std::string place_of_stall(Cause cause);

}  // namespace loaderscope
