// Readers of the formats of traces.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/import/import_engine.h"
#include "engine/import/traced_run.h"

namespace loaderscope::traces {

// Reads exports of nsys, which are SQLite files.

// Adds the file's processes and GPUs to `run`. Throws RunError.
void read_nsys_trace(const std::string& path, const TraceOptions& options, TracedRun& run);

std::optional<std::string> no_sqlite();  // reason why no such file can be read, if any

// Reads traces of torch.profiler: Chrome's JSON format, written by kineto.

// Adds the file's processes and GPUs to `run`: those of one rank. Throws RunError.
void read_torch_trace(const std::string& path, const TraceOptions& options, TracedRun& run);

// Files of samplers: which they are, and those of which an account can be given.

// Each by the first bytes of a file, unpacked.
bool is_collapsed_profile(std::string_view beginning);
bool is_speedscope(std::string_view beginning);
bool is_gecko_profile(std::string_view beginning);

// Add the training thread to `run`. Throw RunError.
void read_collapsed_profile(const std::string& path, const TraceOptions& options, TracedRun& run);
void read_speedscope(const std::string& path, const TraceOptions& options, TracedRun& run);
void read_gecko_profile(const std::string& path, const TraceOptions& options, TracedRun& run);

}  // namespace loaderscope::traces
