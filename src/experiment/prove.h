// loaderscope run --prove
#pragma once

#include <atomic>
#include <functional>

#include "loaderscope/analysis.h"
#include "loaderscope/engine.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

// Runs a configuration without the stages that are knocked out.
using Measure = std::function<RunRecord(const RunConfig&, const Knockouts&)>;

// Runs a configuration in which the loader and already delivered batches alternate.
using MeasureTurns = std::function<RunRecord(const RunConfig&, const ReplaySchedule&)>;

// The next runs of --try.
struct TrialPlan {
  Changes changes;
  std::int64_t runs = 0, steps = 0;  // steps: of each run
  Nanos time = 0;                    // approximate time of all runs
};

// Limits of the runs of --try. Runs in virtual time have none.
struct Trial {
  Nanos budget = 0;  // budget for all runs; 0: no limit
  Nanos start = 0;   // time from the begin of a run to its window
  std::function<Nanos()> now = {};
  std::function<void(const TrialPlan&)> announce = {};  // called once, before the first run
};

// Puts what `analysis` says of the run `first` to the test, or says why it cannot be. A case that
// fails to run says why; nothing is thrown. `stop_signal` not 0: what was measured so far.
Proof prove(Prove asked, const RunRecord& first, const Analysis& analysis, const Measure& measure,
            const MeasureTurns& measure_turns, const std::atomic<int>& stop_signal,
            const Trial& trial = {});

}  // namespace loaderscope
