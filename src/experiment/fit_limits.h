// What would not fit, before it is run.
#pragma once

#include <string>

#include "experiment/tune.h"

namespace loaderscope {

// Why a case is not to be run, or "". `private_bytes`: of one worker beside the slots, as measured;
// 0 before a run.
std::string reason_not_to_run(const RunConfig& config, const TuneOptions& options,
                              Bytes private_bytes);

// Memory of one worker beside the slots, from a run.
Bytes private_bytes_of(const Case& one, Bytes resident_before);

}  // namespace loaderscope
