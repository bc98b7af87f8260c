// Our own loader, for real: threads, clocks, memory and a device.
#pragma once

#include "loaderscope/engine.h"

namespace loaderscope {

RunRecord run_native(const RunConfig& config, const RunContext& context);

}  // namespace loaderscope
