// loaderscope report
#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "cli/analyse_run.h"
#include "cli/command.h"
#include "cli/command_flags.h"
#include "cli/output.h"
#include "cli/requirements.h"
#include "cli/saved_result.h"
#include "loaderscope/findings.h"
#include "loaderscope/report.h"
#include "report/detect_kind.h"
#include "report/results.h"
#include "report/saved.h"
#include "report/schemas.h"

namespace loaderscope {
namespace {

struct ReportFlags {
  std::string result;
  std::string format = "table";
  std::string output = "-";
  std::string schema;
  std::vector<std::string> require;
  bool force = false;
  DetailFlags detail;
};

const ReportRow& find_writer(const std::string& format) {
  try {
    return find_row(format, report_table());
  } catch (const ValueError& error) {
    throw add_place<UsageError>("--format " + shown_text(format) + ": ", error);
  }
}

const ResultKind& kind_of_schema(const std::string& schema) {
  try {
    return find_row(schema, result_kinds());
  } catch (const ValueError& error) {
    throw add_place<UsageError>("--schema " + shown_text(schema) + ": ", error);
  }
}

ExitCode print_schema(const ReportFlags& flags) {
  const ResultKind& kind = kind_of_schema(flags.schema);
  if (!flags.result.empty())
    throw UsageError("--schema: is of every result of a kind",
                     "leave out " + shown_text(flags.result));
  check_output(flags.output, {flags.force, {}});
  write_output(flags.output, [&](std::ostream& out) { write_schema(out, kind); });
  return ExitCode::ok;
}

const ReportRow& find_writer(const std::string& format, std::string_view kind) {
  const ReportRow& writer = find_writer(format);
  if (writer.writes(kind)) return writer;
  std::vector<std::string_view> others;
  for (const ReportRow& row : report_table()) {
    if (row.writes(kind)) others.push_back(row.row.name);
  }
  throw UsageError(
      fmt::format("--format {}: there is no such form of a result of {}", format, kind),
      fmt::format("give {}", fmt::join(others, ", ")));
}

void write_report(const ReportFlags& flags, const ReportRow& writer, const AnyResult& result) {
  if (!writer.is_text && flags.output == "-" && ::isatty(STDOUT_FILENO) != 0)
    throw UsageError(fmt::format("--format {}: is no text for a terminal", writer.row.name),
                     "give --output FILE");
  ReportStyle style;
  set_detail(style, flags.detail);
  if (flags.output == "-") style = answer_style(flags.detail);
  write_output(flags.output, [&](std::ostream& out) { writer.write(out, result, style); });
}

ExitCode report_saved(const ReportFlags& flags, const std::string& path, const ResultKind& kind) {
  const ReportRow& writer = find_writer(flags.format, kind.row.name);
  if (!flags.require.empty())
    throw UsageError(
        fmt::format("--require: is for a run, and {} is of {}", shown_text(path), kind.row.name),
        "look at its values");
  check_output(flags.output, {flags.force, {path}});
  write_report(flags, writer, read_saved(kind, path).result);
  return ExitCode::ok;
}

// Returns the kind of the result. A file that is no result counts as a run, because the reader of
// runs explains the fault.
const ResultKind& read_kind(const std::string& path) {
  const std::string beginning = read_beginning(path);
  const std::string_view schema = find_schema(beginning);
  for (const ResultKind& kind : result_kinds()) {
    const std::string any = schema_name(kind.row.name);
    if (schema.starts_with(any.substr(0, any.rfind('/') + 1))) return kind;
  }
  return find_row("run", result_kinds());
}

ExitCode report(const ReportFlags& flags) {
  if (!flags.schema.empty()) return print_schema(flags);
  if (flags.result.empty()) {
    throw UsageError("report: the saved result is missing", "give the file of run --json FILE");
  }
  check_requirements(flags.require);
  find_writer(flags.format);  // refuses what no result has
  const std::string result = place_of_result(flags.result);
  if (const ResultKind& kind = read_kind(result); kind.read != nullptr)
    return report_saved(flags, result, kind);
  const ReportRow& writer = find_writer(flags.format, "run");
  check_output(flags.output, {flags.force, {result}});
  SavedRun saved = read_result(result);
  if (!flags.require.empty()) saved.record.config.answer.require.set(flags.require);
  const RunRecord& record = saved.record;
  Analysis analysis = analysed(record);
  analysis.proof = saved.proof;
  analysis.against = saved.against;
  return judge_and_answer(flags.require, record, analysis,
                          [&] { write_report(flags, writer, make_result(record, analysis)); });
}

}  // namespace

Action declare_report(CLI::App& app) {
  const auto flags = std::make_shared<ReportFlags>();
  app.add_option(
      "RESULT", flags->result,
      "A file that --json FILE of any command saved. last is the last run, saved or not.");
  app.add_option("--format", flags->format,
                 "The form; see 'loaderscope list report'. Default: table.")
      ->type_name("NAME")
      ->take_last();
  app.add_option("--output", flags->output, "Write there; - is standard output. Default: -.")
      ->type_name("FILE")
      ->take_last();
  app.add_option(
         "--schema", flags->schema,
         "Print the JSON Schema of a kind of result instead; see 'loaderscope list result'.")
      ->type_name("KIND")
      ->take_last();
  add_detail(app, flags->detail);
  app.add_flag("--force", flags->force, "Let --output FILE replace a file that is no result.");
  add_requirements(app, flags->require);
  return [flags] { return report(*flags); };
}

}  // namespace loaderscope
