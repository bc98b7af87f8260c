// The pipeline in virtual time: the same rules as the native engine, declared costs, exact to the
// ns and the same on every machine.
#pragma once

#include "loaderscope/engine.h"

namespace loaderscope {

RunRecord run_model(const RunConfig& config, const RunContext& context);

}  // namespace loaderscope
