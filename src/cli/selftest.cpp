// loaderscope selftest
#include "selftest/selftest.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/config_flags.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/scratch_folder.h"
#include "cli/terminal.h"
#include "cli/version_text.h"
#include "dataset/make.h"
#include "loaderscope/engine.h"
#include "measure/machine.h"
#include "measure/thread_meter.h"
#include "report/selftest_report.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kImages = 64;  // 4.6 MB
constexpr Nanos kBudget = 60 * kSecond;
constexpr Nanos kQuickBudget = 20 * kSecond;

bool has_flag(const Field& field) {
  return selftest::may_change(field) || field.name == "duration" || field.name == "json";
}

struct SelftestFlags {
  explicit SelftestFlags(CLI::App& app) : base(app, has_flag) {}

  bool quick = false;
  ConfigFlags base;
};

selftest::Options options_of(const SelftestFlags& flags, const RunConfig& given) {
  selftest::Options options;
  if (flags.quick) options.rounds = 1;
  options.budget = flags.quick ? kQuickBudget : kBudget;
  if (!given.duration.given) return options;
  if (given.duration <= 0)
    throw UsageError("duration = 0s: expected a time above 0, such as --duration 2m");
  options.budget = given.duration;
  return options;
}

// Of a scenario, which may set more than this command has flags for.
std::vector<std::string> notes_on(const RunConfig& given) {
  std::string names;
  for (const Field& field : fields()) {
    if (!has_flag(field) && field.given(given))
      names += (names.empty() ? "" : ", ") + std::string(field.name);
  }
  if (names.empty()) return {};
  return {"no effect here: " + names + "; the self-test's pipelines have settings of their own"};
}

// Images of its own, where the user gives none. False: stopped.
bool make_images(const ScratchFolder& folder, const std::atomic<int>& stop_signal) {
  dataset::MakeOptions options;
  options.path = folder.path() + "/images";
  options.count = kImages;
  dataset::MakeContext context;
  context.stop_signal = &stop_signal;
  return dataset::make_dataset(options, context).complete;
}

selftest::Result measure_recovery(const std::vector<selftest::Trial>& trials,
                                  const selftest::Options& options,
                                  const std::atomic<int>& stop_signal) {
  ProgressPrinter progress("runs");
  selftest::World world;
  world.run = [&](const RunConfig& config) {
    EngineContext context;
    context.stop_signal = &stop_signal;
    return engine_row(config.engine.value).run(config, context);
  };
  world.now = monotonic_now;
  world.on_progress = [&](std::int64_t runs, double fraction) { progress.show(runs, fraction); };
  return run_selftest(trials, options, world);
}

void write_answer(const std::string& json, const selftest::Result& result) {
  if (json != "-") {
    StandardOutput out;
    write_selftest_table(out.stream(), result, standard_output_style());
    out.finish();
  }
  if (json.empty()) return;
  write_output(json,
               [&](std::ostream& out) { write_selftest_json(out, result, version_number()); });
}

ExitCode run_with(const SelftestFlags& flags) {
  RunConfig given = flags.base.config();
  const selftest::Options options = options_of(flags, given);
  const MachineLimits limits{read_machine().cores};
  selftest::make_trials(given, limits);  // complains before anything is made
  if (!given.json.value.empty()) check_output(given.json.value);

  const std::atomic<int>& stop_signal = catch_stop_signals();
  std::optional<ScratchFolder> folder;
  selftest::Result result;
  result.interrupted = true;
  bool has_data = selftest::names_data(given) || given.engine.value == "model";
  if (!has_data) {
    folder.emplace("selftest");
    has_data = make_images(*folder, stop_signal);
    set_field(given, "selftest", "data", folder->path() + "/images");
  }
  if (has_data)
    result = measure_recovery(selftest::make_trials(given, limits), options, stop_signal);
  result.notes = notes_on(given);
  write_answer(given.json, result);
  if (result.interrupted) return exit_code_of_signal(stop_signal.load());
  return result.passed() ? ExitCode::ok : ExitCode::requirement_not_met;
}

}  // namespace

Action declare_selftest(CLI::App& app) {
  const auto flags = std::make_shared<SelftestFlags>(app);
  app.add_flag("--quick", flags->quick,
               "One round of each pipeline, and at most 20 s of repeating what was not found.");
  return [flags] { return run_with(*flags); };
}

}  // namespace loaderscope
