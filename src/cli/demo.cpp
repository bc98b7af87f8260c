// loaderscope demo
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "base/private_folder.h"
#include "cli/analyse_run.h"
#include "cli/command.h"
#include "cli/command_flags.h"
#include "cli/config_flags.h"
#include "cli/demo_files.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "job/interrupt.h"
#include "loaderscope/settings.h"
#include "machine/machine.h"
#include "report/answers_page.h"
#include "report/results.h"
#include "source/cache_folder.h"
#include "source/walk.h"

namespace loaderscope {
namespace {

constexpr std::string_view kPageName = "loaderscope-demo.html";
constexpr Nanos kLength = 1500 * kMillisecond;  // length of each run
constexpr std::size_t kDrawn = 1;               // the situation with all its pictures on the page

// Headings of demo_files(), in their order.
constexpr std::string_view kHeadings[] = {
    "1. Slow storage: 9 ms to read a file, with two workers",
    "2. Too few workers: the files are on a local disk now",
    "3. All fine: with four workers",
};

struct DemoRun {
  RunRecord record;
  Analysis analysis;
};

// Returns the settings of a real run of a scenario, on the simulated device.
RunConfig demo_config(const EmbeddedFile& file, const MachineFacts& machine,
                      std::vector<std::string>& notes) {
  RunConfig given;
  given.engine.set("native");
  given.trainer.device.set("sim");
  given.measure.duration.set(kLength);
  parse_scenario(file.content, std::string(file.name), given);
  return resolve(given, machine_limits(machine, given), notes);
}

DemoRun measure_demo(const EmbeddedFile& file, const MachineFacts& machine,
                     const std::atomic<int>& stop_signal) {
  std::vector<std::string> notes;
  const RunConfig config = demo_config(file, machine, notes);
  DemoRun run;
  run.record = measure(config, machine, notes, stop_signal);
  run.analysis = analysed(run.record, &stop_signal);
  return run;
}

// Writes the page to the current folder, else to the cache folder. Returns its path, or "" if
// neither can be written. Keeps a file that is no result of loaderscope.
std::string write_demo_page(const std::vector<TitledResult>& results) {
  std::vector<std::string> folders = {""};
  const std::string cache = source::user_cache_folder();
  if (!cache.empty() && make_private_folders(cache) == 0) folders.push_back(cache);
  for (const std::string& folder : folders) {
    const std::string name(kPageName);
    const std::string path = folder.empty() ? name : source::join_path(folder, name);
    try {
      check_output(path);
      write_output(path,
                   [&](std::ostream& out) { write_answers_page(out, "demo", results, kDrawn); });
      return path;
    } catch (const RunError&) {
      continue;
    }
  }
  return "";
}

void print(const std::string& text) {
  write_output("-", [&](std::ostream& out) { out << text; });
}

void print_next(const std::string& page) {
  print(page.empty()
            ? "\nPage:  not written, because this folder and the cache folder are read-only\n"
            : fmt::format("\nPage:  {}   (open it in a browser)\n", printable(page)));
  print("Next:  loaderscope run -- python train.py\n");
}

ExitCode demo(const DetailFlags& detail) {
  const ReportStyle style = answer_style(detail);
  const MachineFacts machine = read_machine();
  const std::atomic<int>& stop_signal = catch_stop_signals();
  std::deque<DemoRun> runs;  // results refer to them
  std::vector<TitledResult> results;
  print("Three real runs of the built-in loader, with made-up files and a simulated GPU.\n");
  for (const EmbeddedFile& file : demo_files()) {
    runs.push_back(measure_demo(file, machine, stop_signal));
    if (stop_signal != 0) return exit_code_of_signal(stop_signal);
    results.push_back({std::string(kHeadings[results.size()]),
                       make_result(runs.back().record, runs.back().analysis)});
    print("\n== " + results.back().heading + "\n\n");
    write_answer({}, results.back().result, style);
  }
  print_next(write_demo_page(results));
  return ExitCode::ok;
}

}  // namespace

Action declare_demo(CLI::App& app) {
  const auto detail = std::make_shared<DetailFlags>();
  add_detail(app, *detail);
  return [detail] { return demo(*detail); };
}

}  // namespace loaderscope
