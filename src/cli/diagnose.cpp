// loaderscope diagnose
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <memory>

#include "cli/analyse_run.h"
#include "cli/command.h"
#include "cli/command_flags.h"
#include "cli/output.h"
#include "cli/requirements.h"
#include "cli/saved_result.h"
#include "job/interrupt.h"
#include "job/nsys_export.h"
#include "loaderscope/report.h"
#include "report/detect_kind.h"
#include "report/results.h"

namespace loaderscope {
namespace {

struct DiagnoseFlags {
  std::vector<std::string> files, require;
  std::string step_range, batch_size, sample_rate;
  AnswerFiles answer;
  DetailFlags detail;
};

traces::TraceOptions trace_options(const DiagnoseFlags& flags) {
  traces::TraceOptions options{flags.files, flags.step_range};
  if (flags.files.empty())
    throw UsageError("diagnose: the trace is missing",
                     "give an SQLite export of nsys, or what torch.profiler or py-spy wrote");
  try {
    if (!flags.sample_rate.empty()) options.sample_rate = parse_count_rate(flags.sample_rate);
  } catch (const ValueError& error) {
    throw add_place<UsageError>("--sample-rate " + shown_text(flags.sample_rate) + ": ", error);
  }
  if (flags.batch_size.empty()) return options;
  constexpr std::int64_t kMax = 1 << 30;
  try {
    options.batch_size = parse_count(flags.batch_size);
  } catch (const ValueError& error) {
    throw add_place<UsageError>("--batch-size " + shown_text(flags.batch_size) + ": ", error);
  }
  if (options.batch_size < 1 || options.batch_size > kMax)
    throw UsageError(fmt::format("--batch-size {}: expected 1 to {}", flags.batch_size, kMax),
                     "give the batch size of the program, such as 256");
  return options;
}

// Rejects results of loaderscope, which are a diagnosis already.
void refuse_own_results(const std::vector<std::string>& files) {
  for (const std::string& file : files)
    if (is_result_of_ours(read_beginning(file)))
      throw UsageError(file + ": is a result of loaderscope and no trace",
                       std::string("loaderscope report ") + file);
}

// Catches signals only while nsys works, so that the first Ctrl-C ends the reading of a trace.
const std::atomic<int>& signals_during_export(const std::vector<std::string>& files) {
  static const std::atomic<int> none = 0;
  return std::ranges::any_of(files, is_nsys_report) ? catch_stop_signals() : none;
}

TraceAnswer answer_of_exported(traces::TraceOptions options, const ExportedTraces& exported) {
  options.files = exported.files();
  try {
    return answer_of_traces(options);
  } catch (const RunError& error) {
    throw exported.named_by_report(error);
  }
}

ExitCode diagnose(const DiagnoseFlags& flags) {
  const traces::TraceOptions options = trace_options(flags);
  refuse_own_results(options.files);
  check_requirements(flags.require);
  const Places places = flags.answer.places();
  check_places(places, "run", {flags.answer.force, flags.files});
  const std::atomic<int>& stop_signal = signals_during_export(options.files);
  const ExportedTraces exported(options.files, stop_signal);
  if (stop_signal != 0) return exit_code_of_signal(stop_signal);
  auto [record, analysis] = answer_of_exported(options, exported);
  record.config.answer.json.value = flags.answer.json;
  record.config.answer.html.value = flags.answer.html;
  const AnyResult result = make_result(record, analysis);
  keep_last_result(record, result);
  return judge_and_answer(flags.require, record, analysis,
                          [&] { write_answer(places, result, answer_style(flags.detail)); });
}

}  // namespace

Action declare_diagnose(CLI::App& app) {
  const auto flags = std::make_shared<DiagnoseFlags>();
  app.add_option("TRACE", flags->files,
                 "Read a trace of nsys (.nsys-rep, SQLite), torch.profiler (JSON, .gz) or py-spy. "
                 "One file per rank. See 'list trace-format'.");
  app.add_option("--step-range", flags->step_range,
                 "Name of the program's NVTX range or record_function around a step. Default: "
                 "ProfilerStep, then the requests for batches.")
      ->type_name("NAME")
      ->take_last();
  app.add_option("--batch-size", flags->batch_size,
                 "Samples per batch, which no trace contains. With it, rates are known.")
      ->type_name("N")
      ->take_last();
  app.add_option("--sample-rate", flags->sample_rate,
                 "Set the samples of stacks per second, if the file lacks it, such as 100/s.")
      ->type_name("RATE")
      ->take_last();
  add_answer_files(app, flags->answer);
  add_detail(app, flags->detail);
  add_requirements(app, flags->require);
  return [flags] { return diagnose(*flags); };
}

}  // namespace loaderscope
