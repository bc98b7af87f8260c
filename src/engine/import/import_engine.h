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
  std::vector<std::string> files;  // files of one run; each has at least one rank
  std::string step_range;          // the name of the program's own range around a step; "": none
  std::int64_t batch_size = 0;     // 0: not known
  double sample_rate = 0;          // Hz; for sampler files that do not contain it; 0: not known
};

// Takes the machine from the traces and leaves tool_version empty. Throws RunError.
RunRecord read_traces(const TraceOptions& options);

// One file format, named by the tool that writes it. The row of an unsupported format gives the
// reason.
struct TraceFormat {
  Row row;
  bool (*is_it)(std::string_view beginning);  // matches the first bytes of an unpacked file
  // Null: no account can be given of it.
  void (*read)(const std::string& path, const TraceOptions& options, TracedRun& run);
  bool may_be_packed = false;
};

std::span<const TraceFormat> trace_format_table();

}  // namespace loaderscope::traces
