// Declared costs without variation.
#pragma once

#include "loaderscope/run_config.h"

namespace loaderscope::model {

// Returns the settings with stored sizes, costs, injections and compute at their means.
RunConfig with_mean_costs(RunConfig config);

}  // namespace loaderscope::model
