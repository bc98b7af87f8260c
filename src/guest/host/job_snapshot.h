// Snapshot of all processes of a job: the place where each one is, and the progress of the
// processes that a trainer waits for.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <vector>

#include "guest/host/messages.h"
#include "guest/host/stack_request.h"
#include "guest/host/training_processes.h"
#include "hang/hang_facts.h"

namespace loaderscope::guest {

// Facts of the job. All of them outlive this.
struct JobView {
  const TrainingProcesses& training;
  const std::vector<std::unique_ptr<GuestProcess>>& members;
  const Messages& messages;
  const ProcessWatch& processes;
};

// Returns signs of the processes that `trainer` waits for: its worker, its worker processes that
// have not started, or itself.
std::map<pid_t, hang::Signs> signs_for(const JobView& job,
                                       const TrainingProcesses::Trainer& trainer);

// Asks all trainers, and the workers of `root`.
StackRequest ask_for_stacks(const JobView& job, const TrainingProcesses::Trainer& root);

// Combines the answers of the processes into the facts of a hang.
hang::HangFacts take_job_snapshot(const JobView& job, const TrainingProcesses::Trainer& root,
                                  const StackRequest& answers, Nanos now);

}  // namespace loaderscope::guest
