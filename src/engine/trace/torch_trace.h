// What torch.profiler writes: Chrome's JSON, by kineto.
#pragma once

#include <string>

#include "engine/trace/traced_run.h"

namespace loaderscope::traces {

// Adds the file's processes and GPUs to `run`: those of one rank. `step_range`: the name of the
// program's own range around a step; "": ProfilerStep. Throws RunError.
void read_torch_trace(const std::string& path, const std::string& step_range, TracedRun& run);

}  // namespace loaderscope::traces
