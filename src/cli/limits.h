// Properties of the machine that the defaults of a command line depend on.
#pragma once

#include "loaderscope/run_record.h"
#include "loaderscope/settings.h"

namespace loaderscope {

// Searches for a GPU only if the answer matters, because that starts its driver.
MachineLimits limits_of(const MachineFacts& machine, const RunConfig& given);

}  // namespace loaderscope
