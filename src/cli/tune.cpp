// loaderscope tune
#include <CLI/CLI.hpp>

#include <memory>

#include "cli/command.h"
#include "cli/config_flags.h"
#include "cli/experiments.h"
#include "cli/output.h"
#include "cli/saved_result.h"
#include "experiment/axes.h"
#include "experiment/prediction_history.h"
#include "experiment/settings.h"
#include "experiment/tune.h"
#include "job/version_text.h"
#include "loaderscope/report.h"
#include "loaderscope/settings.h"
#include "machine/machine.h"
#include "machine/process_counters.h"
#include "predict/fitted_model.h"
#include "record/family_traits.h"
#include "report/kinds.h"
#include "report/results.h"
#include "source/cache_folder.h"

namespace loaderscope {
namespace {

constexpr CommandFlag kTuneFlags[] = {
    {"vary", "L", "KEY=VALUES",
     "Vary this flag instead of the default axes, such as num-workers=2,4,8. Repeatable. Default: "
     "workers to twice the cores, prefetch factors to 8 and memory modes, if not fixed.",
     true},
    {"within", "", "SHARE",
     "Recommend the cheapest setting proven to be this near to the best. Default: 3%."},
    {"goal", "", "gpu:SHARE",
     "Recommend the cheapest setting proven to keep the GPU this busy, such as gpu:0.95."},
    {"max-memory", "", "SIZE", "Run no setting that needs more host memory."},
    {"max-workers", "", "N", "Run no setting with more workers per rank."},
    {"budget", "", "DURATION", "Time for all runs together. Default: 2m."},
    {"from", "", "RESULT",
     "Tune the run that 'run --json' saved. Its settings are the base case. last is the last run, "
     "saved or not."},
    kMachineFlag,
    kNoProjectFlag,
    kVerbose,
    kSummary,
};

struct TuneFlags {
  explicit TuneFlags(CLI::App& app) : own(app, kTuneFlags), base(app) {}

  CommandFlags own;
  ConfigFlags base;
};

// A program of the user's trains itself: there is something to be busy with.
bool has_training(const RunConfig& base) {
  return base.trainer.compute.given || base.program.command.given || base.program.train_step.given;
}

TuneOptions tune_options(const CommandFlags& flags, const RunConfig& base) {
  TuneOptions options;
  options.goal.within = flags.value("within", parse_share, options.goal.within);
  if (flags.is_given("goal")) {
    options.goal.busy = flags.value("goal", parse_busy_goal, 0.0);
    if (flags.is_given("within")) flags.refuse("within", "contradicts --goal", "give one of them");
    if (!has_training(base))
      flags.refuse("goal", "there is no compute to be busy with", "give --compute, such as 12ms");
  }
  options.budget = flags.value("budget", parse_duration, options.budget);
  if (options.budget <= 0) flags.refuse("budget", "expected a time above 0, such as 2m");
  if (flags.is_given("max-workers"))
    options.max_workers = flags.value("max-workers", parse_count, std::int64_t{0});
  if (flags.is_given("max-memory"))
    options.max_memory = flags.value("max-memory", parse_size, Bytes{0});
  options.free_memory = free_memory("/");
  if (const auto shared = read_shared_folder()) options.free_shared = shared->free;
  options.lockable = lockable_memory();
  options.resident_before = read_process_counters().resident;
  options.seed = static_cast<std::uint64_t>(base.measure.seed.value);
  options.grows = flags.texts("vary").empty();
  options.with_now = true;
  return options;
}

// The run that is tuned: as it was given, and as it was, if it was.
struct Base {
  RunConfig given;
  std::optional<RunConfig> measured;
};

// Resets the length, which follows from the budget, and the answer settings, which belong to a run.
RunConfig without_length(RunConfig config) {
  const RunConfig plain;
  config.measure.duration = plain.measure.duration;
  config.measure.steps = plain.measure.steps;
  config.measure.epochs = plain.measure.epochs;
  config.measure.warmup = plain.measure.warmup;
  return config;
}

// The settings of a saved run, on the same data and device; or the program or loader of the user.
Base tune_base(const CommandFlags& flags, const RunConfig& given) {
  if (!flags.is_given("from")) return {given, {}};
  refuse_flags_with_result(given, "vary it with --vary");
  const RunRecord record = read_result(place_of_result(flags.text("from"))).record;
  announce_saved_command(flags.text("from"), record.config);
  Base base{without_length(rerun_settings(record.config, {})), record.config};
  base.given.answer.json = given.answer.json;
  base.given.answer.html = given.answer.html;
  return base;
}

// A setting that a result or a flag gives and an axis varies is the axis's.
Axes tune_axes(const CommandFlags& flags, const RunConfig& base, const MachineLimits& limits,
               const TuneOptions& options) {
  const std::vector<std::string> texts = flags.texts("vary");
  if (!texts.empty()) return parse_axes(texts);
  RunConfig free = base;
  if (flags.is_given("from")) {
    for (const char* key : {"num-workers", "prefetch-factor", "memory", "pin-memory"})
      find_field(key)->mark_given(free, false);
  }
  Axes axes = default_axes(free, limits, options.max_workers);
  if (free.program.command.given && !may_have_accelerator("/"))
    std::erase_if(axes, [](const Axis& axis) { return axis.key == "pin-memory"; });
  if (axes.empty())
    throw UsageError(
        "tune: flags fix the workers, the window and the memory, so that nothing is left to tune",
        "leave one out, or give --vary");
  return axes;
}

ExitCode run_tune(TuneFlags& flags) {
  const RunConfig given = flags.own.read(flags.base, nullptr, flags.own.is_given("from"));
  refuse_flags_of_run(given);
  const Base base = tune_base(flags.own, given);
  TuneOptions options = tune_options(flags.own, base.given);
  const MachineFacts machine = read_machine();
  const MachineLimits limits = machine_limits(machine, base.given);
  options.limits = limits;
  const Axes axes = tune_axes(flags.own, base.given, limits, options);
  OutputRules rules = flags.base.output_rules(given);
  rules.made_from.push_back(flags.own.text("from"));
  check_places(result_places(given), "tune", rules);

  ExperimentRunner runner(machine, flags.own.text(kMachineFlag.name), {});
  Experiment experiment = plan_experiment(base.given, axes, false, limits);
  if (base.measured) adopt_loader(experiment, *base.measured);
  Tune answer = tune(std::move(experiment), runner.context(), options);
  runner.add_notes(answer.experiment, !answer.alone);
  if (!is_model_engine(base.given.engine.value))
    record_prediction_errors(answer, PredictionHistory(source::user_cache_folder()));
  const std::string nothing = reason_for_nothing(answer);
  if (!nothing.empty() && !answer.experiment.interrupted)
    throw RunError("no setting could be run: " + nothing);
  const ReportStyle style = answer_style(flags.own);
  write_answer(result_places(given), make_result(answer, version_number()), style);
  return runner.exit_code(answer.experiment);
}

}  // namespace

Action declare_tune(CLI::App& app) {
  const auto flags = std::make_shared<TuneFlags>(app);
  return [flags] { return run_tune(*flags); };
}

}  // namespace loaderscope
