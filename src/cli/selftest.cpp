// loaderscope selftest
#include "experiment/selftest/selftest.h"
#include "record/family_traits.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "base/private_folder.h"
#include "base/thread_meter.h"
#include "cli/command.h"
#include "cli/command_flags.h"
#include "cli/config_flags.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "dataset/make.h"
#include "experiment/selftest/pipelines.h"
#include "job/interrupt.h"
#include "job/version_text.h"
#include "loaderscope/engine.h"
#include "loaderscope/settings.h"
#include "machine/machine.h"
#include "report/kinds.h"
#include "report/results.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kImages = 64;  // 4.6 MB
constexpr Nanos kBudget = 60 * kSecond;
constexpr Nanos kLoaderBudget = 150 * kSecond;  // each run starts its Python
constexpr Nanos kQuickBudget = 20 * kSecond;

bool has_flag(const Field& field) {
  return selftest::may_change(field) || field.name == "duration" || field.is_about(about::kSaved);
}

struct SelftestFlags {
  explicit SelftestFlags(CLI::App& app) : base(app, has_flag) {}

  bool quick = false;
  DetailFlags detail;
  ConfigFlags base;
};

selftest::Options selftest_options(const SelftestFlags& flags, const RunConfig& given) {
  selftest::Options options;
  if (flags.quick) options.rounds = 1;
  options.budget = flags.quick                  ? kQuickBudget
                   : given.program.loader.given ? kLoaderBudget
                                                : kBudget;
  if (!given.measure.duration.given) return options;
  if (given.measure.duration <= 0)
    throw UsageError("duration = 0s: expected a time above 0", "give --duration 2m");
  options.budget = given.measure.duration;
  return options;
}

// Returns a note about settings of a scenario that this command does not use.
std::vector<std::string> notes_on(const RunConfig& given) {
  std::string names;
  for (const Field& field : fields()) {
    if (!has_flag(field) && field.given(given))
      names += (names.empty() ? "" : ", ") + std::string(field.name);
  }
  if (names.empty()) return {};
  return {"no effect here: " + names + "; the self-test's pipelines have settings of their own"};
}

std::string temporary_place() {
  std::error_code none;
  const std::filesystem::path place = std::filesystem::temp_directory_path(none);
  return none ? "/tmp" : place.string();
}

// Images of its own, where the user gives none. False: stopped.
bool make_images(const PrivateFolder& folder, const std::atomic<int>& stop_signal) {
  dataset::MakeOptions options;
  options.path = folder.path() + "/images";
  options.count = kImages;
  dataset::MakeContext context;
  context.stop_signal = &stop_signal;
  return dataset::make_dataset(options, context).complete;
}

selftest::Run runner(const std::atomic<int>& stop_signal) {
  return [&stop_signal](const RunConfig& config) {
    RunContext context;
    context.stop_signal = &stop_signal;
    return run_engine(config, context);
  };
}

selftest::Result measure_recovery(const std::vector<selftest::Trial>& trials,
                                  const selftest::Options& options,
                                  const std::atomic<int>& stop_signal) {
  ProgressPrinter progress("runs");
  selftest::World world;
  world.run = runner(stop_signal);
  world.now = monotonic_now;
  world.on_progress = [&](std::int64_t runs, double fraction) { progress.show(runs, fraction); };
  return run_selftest(trials, options, world);
}

selftest::Result interrupted() {
  selftest::Result result;
  result.interrupted = true;
  return result;
}

selftest::Result test_own_loader(const RunConfig& given, const MachineLimits& limits,
                                 const selftest::Options& options,
                                 const std::atomic<int>& stop_signal) {
  const selftest::OwnLoader own = selftest::try_loader(given, limits, runner(stop_signal));
  if (own.interrupted) return interrupted();
  selftest::Result result = measure_recovery({own.trial}, options, stop_signal);
  result.notes = own.notes;
  return result;
}

selftest::Result test_native_loader(const RunConfig& asked, const MachineLimits& limits,
                                    const selftest::Options& options,
                                    const std::atomic<int>& stop_signal) {
  RunConfig given = asked;
  std::optional<PrivateFolder> folder;
  if (!selftest::names_data(given) && !is_model_engine(given.engine.value)) {
    folder.emplace(temporary_place(), "loaderscope-selftest-");
    if (!make_images(*folder, stop_signal)) return interrupted();
    set_field(given, "selftest", "data", folder->path() + "/images");
  }
  return measure_recovery(selftest::make_trials(given, limits), options, stop_signal);
}

ExitCode run_with(const SelftestFlags& flags) {
  const RunConfig given = flags.base.config();
  const selftest::Options options = selftest_options(flags, given);
  const MachineLimits limits{read_machine().cores};
  const auto test = given.program.loader.given ? test_own_loader : test_native_loader;
  if (!given.program.loader.given)
    selftest::make_trials(given, limits);  // complains before all else
  const Places places = result_places(given);
  check_places(places, "selftest", flags.base.output_rules(given));

  const std::atomic<int>& stop_signal = catch_stop_signals();
  selftest::Result result = test(given, limits, options, stop_signal);
  for (std::string& note : notes_on(given)) result.notes.push_back(std::move(note));
  write_answer(places, make_result(result, version_number()), answer_style(flags.detail));
  if (result.interrupted) return exit_code_of_signal(stop_signal.load());
  return result.passed() ? ExitCode::ok : ExitCode::requirement_not_met;
}

}  // namespace

Action declare_selftest(CLI::App& app) {
  const auto flags = std::make_shared<SelftestFlags>(app);
  app.add_flag("--quick", flags->quick,
               "Run one round of each pipeline, and repeat missed delays for at most 20 s.");
  add_detail(app, flags->detail);
  return [flags] { return run_with(*flags); };
}

}  // namespace loaderscope
