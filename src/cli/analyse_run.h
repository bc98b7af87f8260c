// A record with all that is found in it, as every command that answers by one says it.
#pragma once

#include <atomic>

#include "loaderscope/analysis.h"

namespace loaderscope {

// How far off predictions of this machine's runs were stands beside them. A signal leaves out what
// takes long.
Analysis analysed(const RunRecord& record, const std::atomic<int>* stop_signal = nullptr);

}  // namespace loaderscope
