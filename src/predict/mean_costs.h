// Declared costs without their spread.
#pragma once

#include "loaderscope/run_config.h"

namespace loaderscope::model {

// What is stored, costs, injections and the compute: each always its mean.
RunConfig with_mean_costs(RunConfig config);

}  // namespace loaderscope::model
