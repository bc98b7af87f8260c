// loaderscope run --prove
#pragma once

#include <atomic>
#include <functional>

#include "loaderscope/analysis.h"
#include "loaderscope/engine.h"
#include "loaderscope/proof.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

// Runs a configuration without the stages that are knocked out.
using Measure = std::function<RunRecord(const RunConfig&, const Knockouts&)>;

// Runs a configuration in which delivered batches take the loader's place by turns.
using MeasureTurns = std::function<RunRecord(const RunConfig&, const ReplayTurns&)>;

// Puts what `analysis` says of the run `first` to the test, or says why it cannot be. A case that
// fails to run says why; nothing is thrown. `stop_signal` not 0: what was measured so far.
Proof prove(Prove asked, const RunRecord& first, const Analysis& analysis, const Measure& measure,
            const MeasureTurns& measure_turns, const std::atomic<int>& stop_signal);

}  // namespace loaderscope
