#include "cli/compare_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/experiments.h"

namespace loaderscope {
namespace {

constexpr OwnFlag kCompareFlags[] = {
    {"a", "", "FLAGS", "Flags of 'run' that only A has, in quotes."},
    {"b", "", "FLAGS", "Flags of 'run' that only B has, in quotes."},
    {"ref-a", "", "REF", "A commit of this repository that A is, in a work tree of its own."},
    {"ref-b", "", "REF", "The same of B. Default: HEAD."},
    {"build", "", "COMMAND",
     "Run by the shell in each of the work trees, before anything is measured."},
    {"bisect", "", "",
     "Of the commits from one to another, given in place of results, find the first that is "
     "slower."},
    {"anchor-ref", "", "REF",
     "A commit of long ago, such as a release: B is compared with it too, so that slow drift "
     "shows."},
    {"anchor-limit", "", "SHARE",
     "How much more CPU time per sample than the anchor's fails. Default: 10%."},
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

bool is_word(const OwnFlags& flags, const char* name, const char* usual, const char* other) {
  const std::string word = flags.text(name);
  if (word.empty() || word == usual) return false;
  if (word != other) flags.refuse(name, fmt::format("expected {} or {}", usual, other));
  return true;
}

}  // namespace

CompareFlags::CompareFlags(CLI::App& app)
    : own(app, kCompareFlags),
      base(app, [](const Field& field) { return field.name != "demand"; }) {
  app.add_option(
         "RESULT", results,
         "Two files that 'run --json FILE' has saved: A, which B is compared with; with --bisect "
         "two commits, of which the second is slower.")
      ->expected(0, 2);
}

compare::Options options_of(const OwnFlags& flags) {
  compare::Options options;
  options.budget = flags.value("budget", parse_duration, options.budget);
  if (options.budget <= 0) flags.refuse("budget", "expected a time above 0, such as 4m");
  options.pairs = flags.value("pairs", parse_count, options.pairs);
  if (flags.is_given("pairs") && options.pairs < compare::kFewestPairs)
    flags.refuse("pairs",
                 fmt::format("expected {} or more: fewer tell nothing", compare::kFewestPairs));
  options.anchor_limit = flags.value("anchor-limit", parse_share, options.anchor_limit);
  options.band = flags.value("band", parse_share, options.band);
  read_demand(flags, options);
  return options;
}

ExitCode exit_code_of(const OwnFlags& flags, const compare::Judgement& judgement,
                      const std::optional<compare::Anchor>& anchor) {
  const bool only_if_it_matters = is_word(flags, "fail-on", "slower", "matters");
  const bool must_tell = is_word(flags, "cannot-tell", "warn", "fail");
  if (only_if_it_matters && !flags.is_given("demand"))
    throw UsageError(
        "--fail-on matters: what the training takes is not known; give --demand, such "
        "as 1786/s:8workers");
  if (anchor && anchor->is_beyond()) return ExitCode::requirement_not_met;
  const bool open = anchor && anchor->cannot_tell();
  if (judgement.verdict == compare::Outcome::cannot_tell ||
      (open && judgement.verdict != compare::Outcome::worse))
    return must_tell ? ExitCode::cannot_tell : ExitCode::ok;
  if (judgement.verdict != compare::Outcome::worse) return ExitCode::ok;
  const bool harmless = judgement.matters && !judgement.matters->gpu_waits();
  return only_if_it_matters && harmless ? ExitCode::ok : ExitCode::requirement_not_met;
}

}  // namespace loaderscope
