// What the Python side of a run has to know.
#pragma once

#include <string>

#include "loaderscope/engine.h"
#include "loaderscope/run_config.h"

namespace loaderscope::guest {

// `replay` may be null.
std::string settings_json(const RunConfig& config, const ReplayTurns* replay);

}  // namespace loaderscope::guest
