// A record with all that is found in it, as every command that answers by one says it.
#pragma once

#include <atomic>

#include "loaderscope/analysis.h"

namespace loaderscope {

// Analyses a run, and adds the errors of earlier predictions on this machine. A signal skips the
// slow parts.
Analysis analysed(const RunRecord& record, const std::atomic<int>* stop_signal = nullptr);

}  // namespace loaderscope
