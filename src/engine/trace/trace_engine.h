// Traces of other people's runs: files that profilers wrote, as one record.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loaderscope/rows.h"
#include "loaderscope/run_record.h"

namespace loaderscope::traces {

struct TraceOptions {
  std::vector<std::string> files;  // of one run: each a rank, or more
  std::string step_range;          // the name of the program's own range around a step; "": none
  std::int64_t batch_size = 0;     // 0: not known
};

// Machine and tool_version are what the traces tell and "". Throws RunError.
RunRecord read_traces(const TraceOptions& options);

// What is read, by what wrote it.
std::span<const Row> trace_format_table();

}  // namespace loaderscope::traces
