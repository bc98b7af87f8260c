// Reads traces of torch.profiler: Chrome's JSON format, written by kineto.
#pragma once

#include <string>

#include "engine/import/import_engine.h"
#include "engine/import/traced_run.h"

namespace loaderscope::traces {

// Adds the file's processes and GPUs to `run`: those of one rank. Throws RunError.
void read_torch_trace(const std::string& path, const TraceOptions& options, TracedRun& run);

}  // namespace loaderscope::traces
