// The further runs of 'run --try' and 'run --prove'.
#pragma once

#include <atomic>

#include "cli/command_flags.h"
#include "experiment/prove.h"
#include "machine/machine.h"

namespace loaderscope {

// What of a run went by before its window: the start of a program, its imports, the warm-up.
// `begin`, `took`: of the whole run.
Nanos start_of_run(const RunRecord& record, Nanos begin, Nanos took);

// Of --budget. Throws UsageError where there is nothing to try.
Nanos budget_of_trial(const CommandFlags& own, const RunConfig& given);

// Runs what the settings ask for, keeps the outcome in `analysis`, and remembers how good the
// predictions were. Says beforehand what --try is about to run.
void add_proof(Analysis& analysis, const RunRecord& record, const MachineFacts& machine,
               Trial trial, const std::atomic<int>& stop_signal);

}  // namespace loaderscope
