// loaderscope compare
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/thread_meter.h"
#include "cli/command.h"
#include "cli/compare_arms.h"
#include "cli/experiments.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/version_text.h"
#include "experiment/case_run.h"
#include "experiment/compare/compare.h"
#include "report/results.h"
#include "settings/flag_words.h"

namespace loaderscope {
namespace {

constexpr Nanos kShortestPatience = 60 * kSecond;  // with one run

constexpr OwnFlag kCompareFlags[] = {
    {"a", "", "FLAGS", "Flags of 'run' that only A has, in quotes."},
    {"b", "", "FLAGS", "Flags of 'run' that only B has, in quotes."},
    {"ref-a", "", "REF", "A commit of this repository that A is, in a work tree of its own."},
    {"ref-b", "", "REF", "The same of B. Default: HEAD."},
    {"build", "", "COMMAND",
     "Run by the shell in each of the work trees, before anything is measured."},
    {"binary-a", "", "PROGRAM", "The loaderscope that runs A."},
    {"binary-b", "", "PROGRAM", "The same of B."},
    {"budget", "", "DURATION", "Time for all runs together. Default: 4m."},
    {"pairs", "", "N", "Pairs of runs, whatever the budget says."},
    {"band", "", "SHARE", "A change that is shown to be within it is none. Default: 2%."},
    {"demand", "", "RATE[:Nworkers]",
     "What the training takes, such as 1786/s:8workers: says whether a change matters."},
    {"fail-on", "", "slower|matters",
     "Exit with 2 on anything slower, or only where the GPU would wait for it. Default: slower."},
    {"cannot-tell", "", "warn|fail",
     "With fail, exit with 3 where it cannot be told. Default: warn."},
    kVerbose,
};

struct CompareFlags {
  explicit CompareFlags(CLI::App& app)
      : own(app, kCompareFlags),
        base(app, [](const Field& field) { return field.name != "demand"; }) {}

  OwnFlags own;
  ConfigFlags base;
};

// "1786/s:8workers"
void read_demand(const OwnFlags& flags, compare::Options& options) {
  const std::string text = flags.text("demand");
  if (text.empty()) return;
  constexpr std::string_view kWorkers = "workers";
  const std::size_t colon = std::min(text.find(':'), text.size());
  try {
    options.rate_needed = parse_count_rate(text.substr(0, colon));
    if (colon == text.size()) return;
    std::string workers = text.substr(colon + 1);
    if (workers.ends_with(kWorkers)) workers.resize(workers.size() - kWorkers.size());
    options.workers = parse_count(workers);
    if (options.workers == 0) throw ValueError("expected workers above 0");
  } catch (const ValueError& error) {
    flags.refuse("demand", std::string(error.what()) + "; such as 1786/s:8workers");
  }
}

compare::Options options_of(const OwnFlags& flags) {
  compare::Options options;
  options.budget = flags.value("budget", parse_duration, options.budget);
  if (options.budget <= 0) flags.refuse("budget", "expected a time above 0, such as 4m");
  options.pairs = flags.value("pairs", parse_count, options.pairs);
  if (flags.is_given("pairs") && options.pairs < compare::kFewestPairs)
    flags.refuse("pairs",
                 fmt::format("expected {} or more: fewer tell nothing", compare::kFewestPairs));
  options.band = flags.value("band", parse_share, options.band);
  read_demand(flags, options);
  return options;
}

bool is_word(const OwnFlags& flags, const char* name, const char* usual, const char* other) {
  const std::string word = flags.text(name);
  if (word.empty() || word == usual) return false;
  if (word != other) flags.refuse(name, fmt::format("expected {} or {}", usual, other));
  return true;
}

ExitCode exit_code_of(const OwnFlags& flags, const compare::Judgement& judgement) {
  const bool only_if_it_matters = is_word(flags, "fail-on", "slower", "matters");
  const bool must_tell = is_word(flags, "cannot-tell", "warn", "fail");
  if (only_if_it_matters && !flags.is_given("demand"))
    throw UsageError(
        "--fail-on matters: what the training takes is not known; give --demand, such "
        "as 1786/s:8workers");
  if (judgement.verdict == compare::Outcome::cannot_tell)
    return must_tell ? ExitCode::cannot_tell : ExitCode::ok;
  if (judgement.verdict != compare::Outcome::worse) return ExitCode::ok;
  const bool harmless = judgement.matters && !judgement.matters->gpu_waits();
  return only_if_it_matters && harmless ? ExitCode::ok : ExitCode::requirement_not_met;
}

std::string command_of(const RunConfig& given) {
  std::string text = "loaderscope run";
  for (const std::string& word : flag_words(given)) text += " " + quoted(word);
  if (given.program.command.given) text += " --";
  for (const std::string& word : given.program.command.value) text += " " + quoted(word);
  return text;
}

ExitCode compare_arms(CompareFlags& flags) {
  const RunConfig given = flags.own.read(flags.base);
  refuse_flags_of_run(given);
  compare::Comparison comparison;
  comparison.options = options_of(flags.own);
  exit_code_of(flags.own, {});  // refuses before anything runs
  const std::string& json = given.answer.json.value;
  if (!json.empty()) check_output(json, flags.base.output_rules(given));

  const std::atomic<int>& stop_signal = catch_stop_signals();
  const auto stopped = [&] { return stop_signal.load() != 0; };
  const CompareArms arms(flags.own, given, stopped);
  comparison.arms = arms.arms();
  comparison.same_flags = arms.same_flags();
  comparison.notes = arms.notes();
  comparison.command = command_of(given);
  ProgressPrinter progress("runs");
  const Nanos patience = std::max(kShortestPatience, comparison.options.budget);
  const compare::Context context{
      .run = [&](std::int64_t arm,
                 const compare::RunLength& length) { return arms.run(arm, length, patience); },
      .now = monotonic_now,
      .stopped = stopped,
      .after_run =
          [&](const compare::Comparison& so_far) {
            const auto planned = static_cast<double>(2 * so_far.planned_pairs);
            progress.show(std::ssize(so_far.runs),
                          static_cast<double>(so_far.runs.size()) / planned);
          },
      .has_length = has_length(given)};
  run_pairs(comparison, context);
  write_answer(json, result_of(comparison, version_number()),
               standard_output_style(flags.own.is_on(kVerbose.name)));
  return comparison.interrupted ? exit_code_of_signal(stop_signal.load())
                                : exit_code_of(flags.own, judge(comparison));
}

}  // namespace

Action declare_compare(CLI::App& app) {
  const auto flags = std::make_shared<CompareFlags>(app);
  return [flags] { return compare_arms(*flags); };
}

}  // namespace loaderscope
