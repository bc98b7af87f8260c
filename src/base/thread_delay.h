// The run-queue delay of a thread over all of its life.
#pragma once

#include "loaderscope/units.h"

namespace loaderscope {

// Returns the delay of the calling thread since it began, or 0 on kernels without schedstat.
Nanos run_queue_delay_of_thread();

}  // namespace loaderscope
