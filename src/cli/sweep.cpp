// loaderscope sweep
#include <CLI/CLI.hpp>

#include <memory>

#include "cli/command.h"
#include "cli/config_flags.h"
#include "cli/experiments.h"
#include "cli/output.h"
#include "experiment/axes.h"
#include "experiment/data_facts.h"
#include "job/interrupt.h"
#include "job/version_text.h"
#include "machine/machine.h"
#include "report/kinds.h"
#include "report/results.h"
#include "report/schemas.h"

namespace loaderscope {
namespace {

constexpr CommandFlag kSweepFlags[] = {
    {"vary", "L", "KEY=VALUES",
     "Vary any flag over these values, such as num-workers=0,1,2,4. Separate values by | if they "
     "contain commas. Repeatable.",
     true},
    {"one-at-a-time", "", "", "Vary one axis at a time instead of all combinations."},
    {"budget", "", "DURATION", "Time for all runs together. Default: 2m."},
    {"precision", "", "SHARE",
     "Repeat a case until half of its rate's 95 % interval is at most this share. Default: 3%."},
    {"resume", "", "FILE",
     "Run the cases that an interrupted sweep left out of this --json file. Use the same "
     "settings."},
    kMachineFlag,
    kNoProjectFlag,
    kVerbose,
    kSummary,
};

struct SweepFlags {
  explicit SweepFlags(CLI::App& app) : own(app, kSweepFlags), base(app) {}

  CommandFlags own;
  ConfigFlags base;
};

SweepOptions sweep_options(const CommandFlags& flags, const RunConfig& given) {
  SweepOptions options;
  options.budget = flags.value("budget", parse_duration, options.budget);
  if (options.budget <= 0) flags.refuse("budget", "expected a time above 0, such as 2m");
  options.precision = flags.value("precision", parse_share, options.precision);
  options.seed = static_cast<std::uint64_t>(given.measure.seed.value);
  return options;
}

// Returns the axes: first flags with several values, then those of --vary.
Axes sweep_axes(const CommandFlags& flags, const std::vector<ListedFlag>& listed) {
  Axes axes;
  for (const ListedFlag& flag : listed)
    axes.push_back(make_axis(flag.name, flag.values, "--" + std::string(flag.name)));
  axes = parse_axes(flags.texts("vary"), std::move(axes));
  if (axes.empty())
    throw UsageError("--vary: nothing varies", "give an axis, such as --vary num-workers=0,1,2,4");
  return axes;
}

ExitCode sweep(SweepFlags& flags) {
  std::vector<ListedFlag> listed;
  const RunConfig given = flags.own.read(flags.base, &listed);
  refuse_flags_of_run(given);
  const SweepOptions options = sweep_options(flags.own, given);
  const Axes axes = sweep_axes(flags.own, listed);
  const std::string& json = given.answer.json.value;
  check_places(result_places(given), "sweep", flags.base.output_rules(given));

  const MachineFacts machine = read_machine();
  Experiment experiment = plan_experiment(given, axes, flags.own.is_on("one-at-a-time"),
                                          machine_limits(machine, given));
  if (flags.own.is_given("resume")) resume_sweep(flags.own.text("resume"), experiment);
  const std::string profile = flags.own.text(kMachineFlag.name);
  ExperimentRunner runner(machine, profile, [&](const Experiment& so_far) {
    if (json.empty() || json == "-") return;
    write_output(
        json, [&](std::ostream& out) { write_json(out, make_result(so_far, version_number())); });
  });
  experiment.data = facts_of_data(experiment, catch_stop_signals());
  run_sweep(experiment, runner.context(), options);
  measure_repacking(experiment, catch_stop_signals());
  runner.add_notes(experiment, true);
  const std::string nothing = reason_for_nothing(experiment);
  if (!nothing.empty() && !experiment.interrupted)
    throw RunError("no case could be run: " + nothing);
  const ReportStyle style = answer_style(flags.own);
  write_answer(result_places(given), make_result(experiment, version_number()), style);
  return runner.exit_code(experiment);
}

}  // namespace

Action declare_sweep(CLI::App& app) {
  const auto flags = std::make_shared<SweepFlags>(app);
  return [flags] { return sweep(*flags); };
}

}  // namespace loaderscope
