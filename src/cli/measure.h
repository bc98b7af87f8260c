// One run of a configuration, with its progress on standard error. Also the further runs of
// 'run --try' and 'run --prove'.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "cli/command_flags.h"
#include "experiment/prove.h"
#include "loaderscope/engine.h"
#include "loaderscope/run_record.h"
#include "machine/machine.h"

namespace loaderscope {

class JobOfProcesses;
namespace monitor {
struct ExportOptions;
}

// Runs the resolved `config`. `notes` are the first notes of the record. `job` is the job that this
// process is a part of; null without one. `exports`: the places of live values; may be null.
RunRecord measure(const RunConfig& config, const MachineFacts& machine,
                  const std::vector<std::string>& notes, const std::atomic<int>& stop_signal,
                  const Knockouts& knockouts = {}, const ReplaySchedule* replay = nullptr,
                  JobOfProcesses* job = nullptr, const monitor::ExportOptions* exports = nullptr);

// Returns the time of a run before its window: start of the program, imports, warm-up. `begin` and
// `took` are for the whole run.
Nanos start_of_run(const RunRecord& record, Nanos begin, Nanos took);

// Returns the value of --budget. Throws UsageError if there is nothing to try.
Nanos budget_of_trial(const CommandFlags& own, const RunConfig& given);

// Runs the trial of the settings, stores the outcome in `analysis`, and records the prediction
// errors. With --try, first prints which runs follow.
void add_proof(Analysis& analysis, const RunRecord& record, const MachineFacts& machine,
               Trial trial, const std::atomic<int>& stop_signal);

}  // namespace loaderscope
