// Part of resolve() for runs of another program's loader.
#pragma once

#include "loaderscope/settings.h"

namespace loaderscope {

bool is_guest(const RunConfig& config);
RunConfig resolve_guest(RunConfig config, const MachineLimits& limits);

}  // namespace loaderscope
