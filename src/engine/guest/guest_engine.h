// The engine `torch`: a PyTorch DataLoader in the user's own Python.
#pragma once

#include "loaderscope/engine.h"

namespace loaderscope {

RunRecord run_torch(const RunConfig& config, const EngineContext& context);

}  // namespace loaderscope
