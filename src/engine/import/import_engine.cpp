#include "engine/import/import_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/import/trace_readers.h"
#include "engine/import/trace_record.h"
#include "engine/import/trace_stream.h"
#include "loaderscope/errors.h"

namespace loaderscope::traces {
namespace {

void refuse_report_of_nsys(const std::string& path) {
  for (const std::string_view ending : {".nsys-rep", ".qdrep", ".qdstrm"}) {
    if (!path.ends_with(ending)) continue;
    const std::string name = path.substr(0, path.size() - ending.size());
    throw RunError(path + ": only nsys itself reads its reports",
                   fmt::format("export it: nsys export --type sqlite --output {1}.sqlite {0} && "
                               "loaderscope diagnose {1}.sqlite",
                               path, name));
  }
}

bool is_sqlite(std::string_view beginning) {
  return beginning.starts_with(std::string_view("SQLite format 3\0", 16));
}
bool is_any(std::string_view) { return true; }

// Refuses a file that cannot be what its name says. JSON under such a name is read.
void refuse_damaged_sqlite(const std::string& path, std::string_view beginning) {
  if (is_sqlite(beginning)) return;
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  const bool is_json =
      first != beginning.npos && (beginning[first] == '{' || beginning[first] == '[');
  const bool has_name = path.ends_with(".sqlite") || path.ends_with(".sqlite3");
  if (beginning.starts_with("SQLite format 3") || (has_name && !is_json))
    throw RunError(path + ": is no SQLite file, or its beginning is damaged",
                   "export it again: nsys export --type sqlite REPORT.nsys-rep");
}

// --- sampler formats that allow no account ---

bool has(std::string_view beginning, std::string_view text) {
  return beginning.find(text) != beginning.npos;
}
bool is_jsonl(std::string_view beginning) {
  return beginning.starts_with(R"({"type":"meta","v":)");
}
// A dict by marshal.
bool is_pstats(std::string_view beginning) {
  return beginning.starts_with('\xfb') || beginning.starts_with("{(");
}
bool is_picture(std::string_view beginning) { return beginning.starts_with('<'); }
bool is_py_spy_chrome(std::string_view beginning) {
  return beginning.starts_with('[') && has(beginning, R"("cat":"py-spy")");
}

std::optional<std::string> no_jsonl() {
  return "it has sums by frame and neither threads nor stacks, so the training thread is not "
         "known; export the same as --collapsed, and give --sample-rate.";
}
std::optional<std::string> no_pstats() {
  return "it has sums by function and neither threads nor stacks, so the training thread is not "
         "known; record with py-spy record --format speedscope --idle.";
}
std::optional<std::string> no_picture() {
  return "it is a picture, and leaves out what is thin; record with --format speedscope (py-spy) "
         "or --collapsed (profiling.sampling).";
}
std::optional<std::string> no_py_spy_chrome() {
  return "a stack that does not change is one event in it, whether it was sampled or not; record "
         "with py-spy record --format speedscope --idle.";
}

const TraceFormat& detect_format(const std::string& path) {
  refuse_report_of_nsys(path);
  TraceStream stream(path);
  std::array<char, 4096> first{};
  const auto got = stream.sgetn(first.data(), first.size());
  const std::string_view beginning(first.data(), static_cast<std::size_t>(got));
  if (beginning.empty())
    throw RunError(path + ": is empty",
                   "give an SQLite export of nsys, or what torch.profiler wrote");
  refuse_damaged_sqlite(path, beginning);
  for (const TraceFormat& format : trace_format_table()) {
    if (!format.is_it(beginning)) continue;
    if (format.read == nullptr)
      throw RunError(fmt::format("{}: cannot answer: {}", path,
                                 format.row.reason_not_available().value_or("")));
    if (stream.is_packed() && !format.may_be_packed)
      throw RunError(path + ": is packed, and SQLite reads no packed file",
                     "unpack it with gunzip");
    return format;
  }
  return trace_format_table().back();
}

}  // namespace

RunRecord read_traces(const TraceOptions& options) {
  TracedRun run;
  for (const std::string& path : options.files) {
    const TraceFormat& format = detect_format(path);
    run.tool = format.row.name;
    const std::optional<std::string> before = run.host;
    format.read(path, options, run);
    run.is_one_host = run.is_one_host && (!before || before == run.host);
  }
  if (run.sampled && options.files.size() > 1)
    throw RunError(
        options.files.front() + ": samples of stacks have no clock to bring files together by",
        "give one at a "
        "time");
  const bool has_steps = std::ranges::any_of(
      run.processes, [](const TracedProcess& process) { return !process.steps.empty(); });
  if (run.gpus_used.empty() && !run.has_loader && !has_steps)
    throw RunError(fmt::format("{}: has neither a GPU's work nor waits for a DataLoader nor steps",
                               options.files.front()),
                   "record with nsys --trace=cuda,nvtx, or with torch.profiler's "
                   "ProfilerActivity.CUDA");
  return make_trace_record(std::move(run), options.batch_size);
}

// JSON may begin with any character, so it is last.
std::span<const TraceFormat> trace_format_table() {
  static const TraceFormat table[] = {
      {{"nsys", "What 'nsys export --type sqlite' makes of a report of Nsight Systems.", no_sqlite},
       is_sqlite,
       read_nsys_trace},
      {{"speedscope",
        "Stack samples in order, also as .gz, from py-spy record --format speedscope --idle."},
       is_speedscope,
       read_speedscope,
       true},
      {{"collapsed",
        "A stack and a count per line; it needs --sample-rate. py-spy record --format raw --idle "
        "or profiling.sampling --collapsed makes it."},
       is_collapsed_profile,
       read_collapsed_profile,
       true},
      {{"gecko",
        "Stack samples for the Firefox Profiler, also as .gz, from profiling.sampling --gecko."},
       is_gecko_profile,
       read_gecko_profile,
       true},
      {{"sampling-jsonl", "Samples as lines of JSON from profiling.sampling.", no_jsonl},
       is_jsonl,
       nullptr},
      {{"pstats", "Sums by function, of cProfile and profiling.sampling --pstats.", no_pstats},
       is_pstats,
       nullptr},
      {{"flame-graph", "A picture (SVG, HTML) that py-spy or profiling.sampling writes.",
        no_picture},
       is_picture,
       nullptr},
      {{"py-spy-chrome", "Samples from py-spy record --format chrometrace.", no_py_spy_chrome},
       is_py_spy_chrome,
       nullptr},
      {{"torch.profiler",
        "Chrome's JSON that export_chrome_trace or tensorboard_trace_handler writes, also as .gz."},
       is_any,
       read_torch_trace,
       true},
  };
  return table;
}

}  // namespace loaderscope::traces
