// Files of samplers: which they are, and those of which an account can be given.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/import/import_engine.h"

namespace loaderscope::traces {

// Each by the first bytes of a file, unpacked.
bool is_collapsed_profile(std::string_view beginning);
bool is_speedscope(std::string_view beginning);
bool is_gecko_profile(std::string_view beginning);

// Add the training thread to `run`. Throw RunError.
void read_collapsed_profile(const std::string& path, const TraceOptions& options, TracedRun& run);
void read_speedscope(const std::string& path, const TraceOptions& options, TracedRun& run);
void read_gecko_profile(const std::string& path, const TraceOptions& options, TracedRun& run);

}  // namespace loaderscope::traces
