// A program that runs on several hosts, with a process of ours around each part of it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "job/job_records.h"

namespace loaderscope {

class JobOfPrograms {
 public:
  // Waits for the others, `wait` at most. The program does not depend on them: where they do not
  // come this is said, and each process answers for its own part. Throws UsageError for what such a
  // job cannot have, RunError where `stop` ends the wait.
  JobOfPrograms(const RunConfig& config, const MachineFacts& machine, ProcessAddress place,
                Nanos wait, const StopSignal& stop);

  // At the first process the answer for all that are there; at others nothing once the first has
  // their part, and else `own`. Waits for programs that still run; once `stop` is not 0, no longer.
  std::optional<JobAnswer> bring_together(JobAnswer own, const StopSignal& stop);

  void give_up(const std::string& why);  // ends the job; no record follows

 private:
  std::unique_ptr<Rendezvous> meeting_;  // null: no other process joined
  std::string failure_;                  // reason for that
};

}  // namespace loaderscope
