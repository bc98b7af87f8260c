// The engines that are somebody else's loader, in the user's own Python.
#pragma once

#include "loaderscope/engine.h"

namespace loaderscope {

RunRecord run_guest(const RunConfig& config, const RunContext& context);

}  // namespace loaderscope
