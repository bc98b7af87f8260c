// Traces of other people's runs: files that profilers wrote, as one record.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/rows.h"
#include "loaderscope/run_record.h"

namespace loaderscope::traces {

struct TracedRun;

struct TraceOptions {
  std::vector<std::string> files;  // of one run: each a rank, or more
  std::string step_range;          // the name of the program's own range around a step; "": none
  std::int64_t batch_size = 0;     // 0: not known
};

// Machine and tool_version are what the traces tell and "". Throws RunError.
RunRecord read_traces(const TraceOptions& options);

// What is read, by what wrote it.
struct TraceFormat {
  Row row;
  std::string_view magic;  // that such a file begins with, unpacked
  void (*read)(const std::string& path, const std::string& step_range, TracedRun& run);
  bool may_be_packed = false;
};

std::span<const TraceFormat> trace_format_table();

}  // namespace loaderscope::traces
