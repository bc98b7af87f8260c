// The records of one job's processes, brought together at the first of them.
#pragma once

#include <functional>
#include <string>

#include "loaderscope/run_record.h"
#include "rendezvous/rendezvous.h"

namespace loaderscope {

struct JobAnswer {
  RunRecord record;
  std::string failure;  // what ended the job early, or kept a part out of it; "": nothing
};

// What has to be alike in all processes of a job.
HelloMessage introduction_of(const RunConfig& config, const MachineFacts& machine,
                             std::int64_t ranks);

// As of a host of the job. `failure`: what ended it early; "": nothing.
void bring_onto_first_clock(Rendezvous& meeting, RunRecord& own, const std::string& failure);

// To the first process. Throws RunError where that does not take it.
void hand_over(Rendezvous& meeting, const RunRecord& own);

// At the first process: of all that are there. What is no part of the job is left out, and said.
// `book_waits` for ranks of other processes, on ranks in the order of the processes. Once `stop` is
// not 0, who is not there yet is left out.
JobAnswer gather_records(Rendezvous& meeting, JobAnswer own,
                         const std::function<void(RunRecord&)>& book_waits,
                         const StopSignal* stop = nullptr);

// A program's collectives are a part of what each host has seen as compute: where its hosts end
// their steps together, waits for other hosts are booked, and that is said.
void book_waits_of_programs(RunRecord& job);

}  // namespace loaderscope
