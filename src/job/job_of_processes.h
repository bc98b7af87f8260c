// A run whose ranks are made by several processes, on one host or on many.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "device/devices.h"
#include "job/job_records.h"
#include "loaderscope/engine.h"
#include "rendezvous/rendezvous.h"

namespace loaderscope {

class JobOfProcesses : private StepBarrier {
 public:
  // Waits at most `wait` for the other processes. `config` is resolved, and for the whole job.
  // Throws UsageError for settings that a job cannot have, RunError if processes are missing.
  JobOfProcesses(const RunConfig& config, const MachineFacts& machine, ProcessAddress place,
                 Nanos wait, const std::atomic<int>& stop_signal);

  // Runs this process's part of the job with `measure`. Returns the record of all present processes
  // at the first process, and nothing at others. Throws the errors of `measure`, unless there still
  // is an answer, and RunError at others if the job failed.
  using Measure = std::function<RunRecord(const RunConfig& part)>;
  std::optional<JobAnswer> run(const Measure& measure);

  void prepare(RunContext& context);  // sets up a context for `measure`

 private:
  void ready(std::int64_t step, Nanos at) override { meeting_->ready(step, at); }
  std::optional<Nanos> find_begin(std::int64_t step) override { return meeting_->find_begin(step); }
  void on_begin(std::function<void()> call) override { meeting_->on_begin(std::move(call)); }

  std::string with_awaited(const std::string& failure);
  RunRecord own_record(const Measure& measure, std::string& failure);

  RunConfig config_, part_;
  const std::atomic<int>& stop_signal_;
  std::unique_ptr<Rendezvous> meeting_;
};

// A program that runs on several hosts, with a process of ours around each part of it.
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
