// A record, or a trace, with all that is found in it, as every command that answers by one says it.
#pragma once

#include <atomic>

#include "engine/import/import_engine.h"
#include "loaderscope/analysis.h"

namespace loaderscope {

// Analyses a run, and adds the errors of earlier predictions on this machine. A signal skips the
// slow parts.
Analysis analysed(const RunRecord& record, const std::atomic<int>* stop_signal = nullptr);

// The answer that a trace gives, as a command shows it.
struct TraceAnswer {
  RunRecord record;
  Analysis analysis;
};

TraceAnswer answer_of_traces(const traces::TraceOptions& options);  // throws RunError

}  // namespace loaderscope
