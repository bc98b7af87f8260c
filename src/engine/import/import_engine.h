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
  double sample_rate = 0;          // of a sampler whose file does not tell; 0: not known
};

// Machine and tool_version are what the traces tell and "". Throws RunError.
RunRecord read_traces(const TraceOptions& options);

// What is read, by what wrote it; and what is known and cannot be: its row says why.
struct TraceFormat {
  Row row;
  bool (*is_it)(std::string_view beginning);  // by the first bytes of a file, unpacked
  // Null: no account can be given of it.
  void (*read)(const std::string& path, const TraceOptions& options, TracedRun& run);
  bool may_be_packed = false;
};

std::span<const TraceFormat> trace_format_table();

}  // namespace loaderscope::traces
