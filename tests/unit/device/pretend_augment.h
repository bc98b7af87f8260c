// The kernels that augment a batch, run on the host.
#pragma once

#include "device/cuda/augment_job.h"

namespace loaderscope::cuda {

// Does what launch_augment() makes a GPU do. All addresses are of host memory.
void augment_on_host(const AugmentJob& job);

}  // namespace loaderscope::cuda
