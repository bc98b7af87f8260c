// The part of resolve() for runs of somebody else's loader.
#pragma once

#include "loaderscope/settings.h"

namespace loaderscope {

bool is_guest(const RunConfig& config);
// The user's program, or his step, trains with what it takes; else a device of ours does.
bool trains_itself(const RunConfig& config);
RunConfig resolve_guest(RunConfig config, const MachineLimits& limits);

}  // namespace loaderscope
