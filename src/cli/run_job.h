// A run of which this process makes a part.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "loaderscope/analysis.h"
#include "loaderscope/run_record.h"
#include "rendezvous/process_address.h"

namespace loaderscope {
namespace monitor {
struct ExportOptions;
}

// Finds the place of this process in its job. `way` is the value of --rendezvous. If it is "", the
// launcher chooses the method, and process 0 prints it. Returns nothing if each process is a job by
// itself. Throws UsageError, or RunError if process 0 is not found. Call before the first thread.
std::optional<ProcessAddress> place_in_job(const std::string& way, const RunConfig& given,
                                           Nanos wait);

struct JobRun {
  const RunConfig& config;  // resolved
  const MachineFacts& machine;
  const std::vector<std::string>& notes;
  Nanos wait;  // longest wait for the other processes to join
  // Completion of the record with other facts, and the writer of the answer.
  std::function<void(RunRecord&)> complete;
  std::function<void(const RunRecord&, Analysis&)> compare;  // with an earlier run, if one is given
  std::function<void(const RunRecord&, const Analysis&)> write;
  // Writer for a failed job: gets the reason, and what was measured until then.
  std::function<void(const RunRecord&, const Analysis&, const std::string& reason)> write_part;
  const monitor::ExportOptions& exports;
};

// Runs this process of the job. Only the first process writes the answer. Throws RunError.
ExitCode run_job(const JobRun& job, ProcessAddress place, const std::atomic<int>& stop_signal);

}  // namespace loaderscope
