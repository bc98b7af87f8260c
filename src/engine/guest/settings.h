// What the Python side of a run has to know.
#pragma once

#include <string>

#include "loaderscope/run_config.h"

namespace loaderscope::guest {

std::string settings_json(const RunConfig& config);

}  // namespace loaderscope::guest
