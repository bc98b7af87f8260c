// loaderscope data info
#include <CLI/CLI.hpp>

#include <memory>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "dataset/drift.h"
#include "dataset/info.h"
#include "job/interrupt.h"
#include "job/version_text.h"
#include "report/results.h"

namespace loaderscope {
namespace {

struct InfoFlags {
  std::string path, other, html;
  bool check = false, json = false, force = false;
  DetailFlags detail;
};

dataset::DatasetInfo looked_at(const std::string& data, const InfoFlags& flags,
                               const std::atomic<int>& stop_signal) {
  ProgressPrinter progress("files");
  dataset::InfoContext context;
  context.stop_signal = &stop_signal;
  context.on_progress = [&](const dataset::InfoProgress& p) { progress.show(p.files, 0); };
  if (flags.check) context.make_decoder = [] { return make_any_decoder({}); };
  return dataset::inspect_dataset(data, context);
}

ExitCode info(const InfoFlags& flags) {
  if (flags.path.empty())
    throw UsageError("data info: expected the data to inspect", "loaderscope data info photos");
  Places places;
  if (flags.json) places.push_back({"json", "-"});
  if (!flags.html.empty()) places.push_back({"html", flags.html});
  const bool is_drift = !flags.other.empty();
  check_places(places, is_drift ? "dataset-drift" : "dataset-info", {flags.force, {}});
  const std::atomic<int>& stop_signal = catch_stop_signals();
  const auto code = [&](bool interrupted) {
    return interrupted ? exit_code_of_signal(stop_signal.load()) : ExitCode::ok;
  };
  dataset::DatasetInfo first = looked_at(flags.path, flags, stop_signal);
  if (!is_drift) {
    write_answer(places, make_result(first, version_number()), answer_style(flags.detail));
    return code(first.interrupted);
  }
  const dataset::Drift drift =
      dataset::drift_between(std::move(first), looked_at(flags.other, flags, stop_signal));
  write_answer(places, make_result(drift, version_number()), answer_style(flags.detail));
  return code(drift.a.interrupted || drift.b.interrupted);
}

}  // namespace

Action declare_data_info(CLI::App& app) {
  const auto flags = std::make_shared<InfoFlags>();
  app.add_option("DATA", flags->path, "Describe this data, given as to run --data.");
  app.add_option("OTHER", flags->other, "Compare with this data, and list the differences.");
  app.add_flag("--check", flags->check, "Decode every image instead of only reading its header.");
  app.add_flag("--json", flags->json, "Print JSON.");
  app.add_option("--html", flags->html, "Also save a page with its pictures in this file.")
      ->type_name("FILE");
  add_detail(app, flags->detail);
  app.add_flag("--force", flags->force, "Let --html FILE replace a file that is no result.");
  return [flags] { return info(*flags); };
}

}  // namespace loaderscope
