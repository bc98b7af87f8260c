// Reads exports of nsys, which are SQLite files.
#pragma once

#include <optional>
#include <string>

#include "engine/import/import_engine.h"
#include "engine/import/traced_run.h"

namespace loaderscope::traces {

// Adds the file's processes and GPUs to `run`. Throws RunError.
void read_nsys_trace(const std::string& path, const TraceOptions& options, TracedRun& run);

std::optional<std::string> no_sqlite();  // reason why no such file can be read, if any

}  // namespace loaderscope::traces
