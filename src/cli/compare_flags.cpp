#include "cli/compare_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "cli/experiments.h"
#include "job/machine_profile.h"
#include "settings/flag_words.h"
#include "settings/key_lines.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

constexpr CommandFlag kCompareFlags[] = {
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
    {"more-memory", "", "warn|fail",
     "With fail, exit with 2 where B needs more memory. Default: warn."},
    {"accepted", "", "FILE",
     "Slowdowns that fail nothing: lines such as 'decode = 12% until 2026-12-31 by ana: why'. "
     "Default: .loaderscope/accepted.conf, where that is there."},
    kMachineFlag,
    kVerbose,
    kSummary,
};

// "1786/s:8workers"
void read_demand(const CommandFlags& flags, compare::Options& options) {
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

bool is_word(const CommandFlags& flags, const char* name, const char* usual, const char* other) {
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

compare::Options options_of(const CommandFlags& flags) {
  compare::Options options;
  options.budget = flags.value("budget", parse_duration, options.budget);
  if (options.budget <= 0) flags.refuse("budget", "expected a time above 0, such as 4m");
  options.pairs = flags.value("pairs", parse_count, options.pairs);
  if (flags.is_given("pairs") && options.pairs < compare::kMinPairs)
    flags.refuse("pairs",
                 fmt::format("expected {} or more: fewer tell nothing", compare::kMinPairs));
  options.anchor_limit = flags.value("anchor-limit", parse_share, options.anchor_limit);
  options.band = flags.value("band", parse_share, options.band);
  read_demand(flags, options);
  options.only_if_it_matters = is_word(flags, "fail-on", "slower", "matters");
  options.must_tell = is_word(flags, "cannot-tell", "warn", "fail");
  options.more_memory_fails = is_word(flags, "more-memory", "warn", "fail");
  if (options.only_if_it_matters && options.rate_needed <= 0)
    throw UsageError(
        "--fail-on matters: what the training takes is not known; give --demand, such "
        "as 1786/s:8workers");
  return options;
}

std::string file_of_batches(const RunConfig& given) {
  std::string file = given.program.loader.value;  // FILE.py:FUNCTION
  file.resize(std::min(file.size(), file.rfind(':')));
  for (const std::string& word : given.program.command.value) {
    if (file.empty() && word.ends_with(".py")) file = word;
  }
  std::error_code error;
  if (file.empty() || !fs::exists(file, error)) return "";
  for (fs::path root = fs::current_path(error); root.has_relative_path();
       root = root.parent_path()) {
    if (fs::exists(root / ".git", error)) return fs::relative(file, root, error).string();
  }
  return "";
}

std::string compare_command(const CompareFlags& flags, const RunConfig& given,
                            const std::array<compare::Arm, 2>& arms) {
  std::string text = "loaderscope compare";
  const auto add = [&](std::string_view name, const std::string& value) {
    text += " --" + std::string(name) + " " + quoted(value);
  };
  for (const CommandFlag& flag : kCompareFlags) {
    const bool is_ref = flag.name.starts_with("ref-");
    if (!is_ref && !flag.value_name.empty() && flags.own.is_given(flag.name))
      add(flag.name, flags.own.text(flag.name));
  }
  if (!arms[0].commit.empty()) add("ref-a", arms[0].commit);
  if (!arms[1].commit.empty()) add("ref-b", arms[1].commit);
  for (const std::string& result : flags.results) {
    if (arms[0].commit.empty()) text += " " + quoted(result);
  }
  for (const std::string& word : flag_words(given)) text += " " + quoted(word);
  if (given.program.command.given) text += " --";
  for (const std::string& word : given.program.command.value) text += " " + quoted(word);
  return text;
}

std::vector<compare::Accepted> accepted_of(const CommandFlags& flags) {
  constexpr const char* kUsual = ".loaderscope/accepted.conf";
  std::error_code error;
  const std::string path = flags.is_given("accepted") ? flags.text("accepted") : kUsual;
  if (!flags.is_given("accepted") && !fs::exists(path, error)) return {};
  return compare::parse_accepted(read_key_file(path), path);
}

std::string date_of(std::chrono::system_clock::time_point now) {
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(now));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

ExitCode exit_code_of(compare::Gate gate) {
  switch (gate) {
    case compare::Gate::passes:
      return ExitCode::ok;
    case compare::Gate::untold:
      return ExitCode::cannot_tell;
    case compare::Gate::fails:
      break;
  }
  return ExitCode::requirement_not_met;
}

}  // namespace loaderscope
