// The work of a real GPU for the loader, as a run measured it.
#pragma once

#include "loaderscope/run_config.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

// Returns the configuration of the run, in which the device decodes the share of the images that it
// did decode. If a real GPU decoded or augmented, the mean times of a sample are declared costs.
RunConfig declare_device_work(const RunRecord& record);

}  // namespace loaderscope
