// A program that runs on several hosts, with a process of ours around each part of it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "job/job_records.h"

namespace loaderscope {

class JobOfPrograms {
 public:
  // Waits at most `wait` for the other processes. The program does not depend on them: without
  // them, each process prints a note and answers for its own part. Throws UsageError for settings
  // that such a job cannot have, RunError if `stop` ends the wait.
  JobOfPrograms(const RunConfig& config, const MachineFacts& machine, ProcessAddress place,
                Nanos wait, const StopSignal& stop);

  // Returns the answer for all present processes at the first process. At others, returns nothing
  // if the first process has their part, else `own`. Waits for programs that still run, until
  // `stop` is not 0.
  std::optional<JobAnswer> bring_together(JobAnswer own, const StopSignal& stop);

  void give_up(const std::string& why);  // ends the job; no record follows

 private:
  std::unique_ptr<Rendezvous> meeting_;  // null: no other process joined
  std::string failure_;                  // reason for that
};

}  // namespace loaderscope
