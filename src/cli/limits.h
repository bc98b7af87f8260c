// What of the machine the defaults of a command line depend on.
#pragma once

#include "loaderscope/run_record.h"
#include "loaderscope/settings.h"

namespace loaderscope {

// Looks for a GPU only where the answer matters: that starts its driver.
MachineLimits limits_of(const MachineFacts& machine, const RunConfig& given);

}  // namespace loaderscope
