#include "engine/trace/trace_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/trace/nsys_trace.h"
#include "engine/trace/torch_trace.h"
#include "engine/trace/trace_record.h"
#include "engine/trace/trace_stream.h"
#include "loaderscope/errors.h"

namespace loaderscope::traces {
namespace {

void refuse_report_of_nsys(const std::string& path) {
  for (const std::string_view ending : {".nsys-rep", ".qdrep", ".qdstrm"}) {
    if (!path.ends_with(ending)) continue;
    const std::string name = path.substr(0, path.size() - ending.size());
    throw RunError(fmt::format(
        "{0}: only nsys itself reads its reports; export it: nsys export --type sqlite --output "
        "{1}.sqlite {0} && loaderscope diagnose {1}.sqlite",
        path, name));
  }
}

const TraceFormat& format_of(const std::string& path) {
  refuse_report_of_nsys(path);
  TraceStream stream(path);
  std::array<char, 16> first{};
  const auto got = stream.sgetn(first.data(), first.size());
  const std::string_view beginning(first.data(), static_cast<std::size_t>(got));
  if (beginning.empty())
    throw RunError(path +
                   ": is empty; give an SQLite export of nsys, or what torch.profiler wrote");
  for (const TraceFormat& format : trace_format_table()) {
    if (!beginning.starts_with(format.magic)) continue;
    if (stream.is_packed() && !format.may_be_packed)
      throw RunError(path + ": is packed, and SQLite reads no packed file; unpack it with gunzip");
    return format;
  }
  return trace_format_table().back();
}

}  // namespace

RunRecord read_traces(const TraceOptions& options) {
  TracedRun run;
  for (const std::string& path : options.files) {
    const TraceFormat& format = format_of(path);
    run.tool = format.row.name;
    const std::optional<std::string> before = run.host;
    format.read(path, options.step_range, run);
    run.is_one_host = run.is_one_host && (!before || before == run.host);
  }
  const bool has_steps = std::ranges::any_of(
      run.processes, [](const TracedProcess& process) { return !process.steps.empty(); });
  if (run.gpus_used.empty() && !run.has_loader && !has_steps)
    throw RunError(
        fmt::format("{}: has neither a GPU's work nor waits for a DataLoader nor steps; "
                    "record with nsys --trace=cuda,nvtx, or with torch.profiler's "
                    "ProfilerActivity.CUDA",
                    options.files.front()));
  return record_of(std::move(run), options.batch_size);
}

// JSON begins with whatever it likes: it stands last.
std::span<const TraceFormat> trace_format_table() {
  static const TraceFormat table[] = {
      {{"nsys", "What 'nsys export --type sqlite' makes of a report of Nsight Systems.", no_sqlite},
       std::string_view("SQLite format 3\0", 16),
       read_nsys_trace},
      {{"torch.profiler",
        "Chrome's JSON, by export_chrome_trace or tensorboard_trace_handler, also packed by gzip."},
       "",
       read_torch_trace,
       true},
  };
  return table;
}

}  // namespace loaderscope::traces
