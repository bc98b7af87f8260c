// Who kept our threads waiting for a core: our own other threads, or other programs.
#pragma once

#include <optional>

#include "loaderscope/run_record.h"

namespace loaderscope {

// The part of the contention that other programs caused, by the CPU time that they took beside this
// one. Nothing where that was not counted.
std::optional<double> contention_of_others(const RunRecord& record);

}  // namespace loaderscope
