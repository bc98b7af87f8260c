// A look at all processes of a job: where each stands, and whether those go on that are waited for.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <vector>

#include "guest/host/messages.h"
#include "guest/host/stack_request.h"
#include "guest/host/training_processes.h"
#include "hang/hang_facts.h"
#include "hang/process_snapshot.h"

namespace loaderscope::guest {

// What is known of the job. All of it outlives this.
struct JobView {
  const TrainingProcesses& training;
  const std::vector<std::unique_ptr<GuestProcess>>& members;
  const Messages& messages;
  const ProcessWatch& processes;
};

// Of the processes that `trainer` waits for: its worker, those that are to be workers and have not
// come up, or itself.
std::map<pid_t, hang::Signs> signs_for(const JobView& job,
                                       const TrainingProcesses::Trainer& trainer);

// Asks all trainers, and the workers of `root`.
StackRequest ask_for_stacks(const JobView& job, const TrainingProcesses::Trainer& root);

// With the answers.
hang::HangFacts take_job_snapshot(const JobView& job, const TrainingProcesses::Trainer& root,
                                  const StackRequest& answers, Nanos now);

}  // namespace loaderscope::guest
