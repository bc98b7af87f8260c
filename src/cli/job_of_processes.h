// A run whose ranks are made by several processes, on one host or on many.
#pragma once

#include <optional>
#include <string>

#include "device/devices.h"
#include "loaderscope/engine.h"
#include "rendezvous/meeting.h"

namespace loaderscope {

class JobOfProcesses : private StepGate {
 public:
  // `config`: of the whole job, resolved; without --ranks each process makes one. Waits for the
  // others. Throws UsageError for what a job cannot have, RunError where it does not come together.
  JobOfProcesses(const RunConfig& config, const MachineFacts& machine);

  const RunConfig& part() const { return part_; }  // this process's
  bool is_first() const { return meeting_->is_first(); }
  void prepare(EngineContext& context);

  // Ends the job for all. At the first process the record of all that are there, at others
  // nothing. Throws RunError at others where the job failed.
  std::optional<RunRecord> gather(RunRecord own);
  std::string failure() { return meeting_->failure(); }

 private:
  void ready(std::int64_t step, Nanos at) override { meeting_->ready(step, at); }
  std::optional<Nanos> begin_of(std::int64_t step) override { return meeting_->begin_of(step); }
  void on_begin(std::function<void()> call) override { meeting_->on_begin(std::move(call)); }

  void bring_onto_first_clock(RunRecord& own);

  RunConfig config_, part_;
  std::unique_ptr<Meeting> meeting_;
};

// Before resolve(): without --ranks the job has one rank for each process.
void set_ranks_of_job(RunConfig& given);

}  // namespace loaderscope
