#include "cli/compare_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/python_script.h"
#include "cli/command.h"
#include "cli/experiments.h"
#include "job/machine_profile.h"
#include "loaderscope/errors.h"
#include "settings/flag_words.h"
#include "settings/scenario.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

constexpr CommandFlag kCompareFlags[] = {
    {"a", "", "FLAGS", "Flags of 'run' that only A has, in quotes."},
    {"b", "", "FLAGS", "Flags of 'run' that only B has, in quotes."},
    {"ref-a", "", "REF", "Run this commit of the repository as A, in its own work tree."},
    {"ref-b", "", "REF", "Run this commit as B, in its own work tree. Default: HEAD."},
    {"build", "", "COMMAND", "Run this shell command in each work tree before the measurement."},
    {"bisect", "", "",
     "Find the first slower commit between two commits, given in place of results."},
    {"anchor-ref", "", "REF",
     "Compare B with this old commit too, such as a release. It shows slow drift."},
    {"anchor-limit", "", "SHARE",
     "Fail if CPU time per sample exceeds the anchor's by this share. Default: 10%."},
    {"binary-a", "", "PROGRAM", "Run A with this loaderscope."},
    {"binary-b", "", "PROGRAM", "Run B with this loaderscope."},
    {"budget", "", "DURATION", "Time for all runs together. Default: 4m."},
    {"pairs", "", "N", "Run this number of pairs, whatever the budget is."},
    {"band", "", "SHARE", "Ignore changes that are shown to be within this share. Default: 2%."},
    {"demand", "", "RATE[:Nworkers]",
     "Rate that the training takes, such as 1786/s:8workers. Decides whether a change matters."},
    {"fail-on", "", "slower|matters",
     "Exit with 2 on any slowdown, or only if the GPU would wait for it. Default: slower."},
    {"cannot-tell", "", "warn|fail",
     "With fail, exit with 3 if the result is unclear. Default: warn."},
    {"more-memory", "", "warn|fail",
     "With fail, exit with 2 if B needs more memory. Default: warn."},
    {"accepted", "", "FILE",
     "Accept the slowdowns in this file. A line is 'decode = 12% until 2026-12-31 by ana: why'."
     " The default is .loaderscope/accepted.conf, if it exists."},
    kMachineFlag,
    kNoProjectFlag,
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
    flags.refuse("demand", std::string(error.sentence()), "give a rate such as 1786/s:8workers");
  }
}

bool is_word(const CommandFlags& flags, const char* name, const char* usual, const char* other) {
  const std::string word = flags.text(name);
  if (word.empty() || word == usual) return false;
  if (word != other) flags.refuse(name, fmt::format("expected {} or {}", usual, other));
  return true;
}

namespace fs = std::filesystem;

void split_program(FreshRun& run) {
  const auto mark = std::find(run.words.begin(), run.words.end(), "--");
  if (mark == run.words.end()) return;
  run.program.assign(mark + 1, run.words.end());
  run.words.erase(mark, run.words.end());
}

[[noreturn]] void refuse_arms() {
  throw UsageError("compare: give two of one kind",
                   "--a '--num-workers 2' --b '--num-workers 4', --ref-a origin/main --ref-b HEAD, "
                   "--binary-a OLD --binary-b NEW, or two results");
}

std::string runnable(const std::string& binary, const char* flag) {
  std::error_code error;
  const fs::path path = fs::absolute(binary, error);
  if (!fs::is_regular_file(path, error))
    throw UsageError(std::string(flag) + " " + shown_text(binary) + ": there is no such file",
                     "name a loaderscope program");
  return path.string();
}

}  // namespace

CompareFlags::CompareFlags(CLI::App& app)
    : own(app, kCompareFlags),
      base(app, [](const Field& field) { return field.name != "demand"; }) {
  app.add_option("RESULT", results,
                 "Compare two files that 'run --json FILE' saved: A, then B. With --bisect, give "
                 "two commits. The second is slower.")
      ->expected(0, 2);
}

compare::Options compare_options(const CommandFlags& flags) {
  compare::Options options;
  options.budget = flags.value("budget", parse_duration, options.budget);
  if (options.budget <= 0) flags.refuse("budget", "expected a time above 0, such as 4m");
  options.pairs = flags.value("pairs", parse_count, options.pairs);
  if (flags.is_given("pairs") && options.pairs < compare::kMinPairs)
    flags.refuse("pairs", fmt::format("expected {} or more", compare::kMinPairs));
  options.anchor_limit = flags.value("anchor-limit", parse_share, options.anchor_limit);
  options.band = flags.value("band", parse_share, options.band);
  read_demand(flags, options);
  options.only_if_it_matters = is_word(flags, "fail-on", "slower", "matters");
  options.must_decide = is_word(flags, "cannot-tell", "warn", "fail");
  options.more_memory_fails = is_word(flags, "more-memory", "warn", "fail");
  if (options.only_if_it_matters && options.rate_needed <= 0)
    throw UsageError("--fail-on matters: what the training takes is not known",
                     "give --demand, such as 1786/s:8workers");
  return options;
}

std::string file_of_batches(const RunConfig& given) {
  std::string file = given.program.loader.value;  // FILE.py:FUNCTION
  file.resize(std::min(file.size(), file.rfind(':')));
  const std::vector<std::string>& command = given.program.command.value;
  const auto script = find_python_script(command);
  if (file.empty() && script != command.end()) file = *script;
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

std::vector<compare::Accepted> accepted_changes(const CommandFlags& flags) {
  constexpr const char* kUsual = ".loaderscope/accepted.conf";
  std::error_code error;
  const std::string path = flags.is_given("accepted") ? flags.text("accepted") : kUsual;
  if (!flags.is_given("accepted") && !fs::exists(path, error)) return {};
  return compare::parse_accepted(read_key_file(path), path);
}

std::string utc_date(std::chrono::system_clock::time_point now) {
  const std::chrono::year_month_day date(std::chrono::floor<std::chrono::days>(now));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

ExitCode gate_exit_code(compare::Gate gate) {
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

CompareArms::CompareArms(const CommandFlags& flags, const RunConfig& base,
                         const std::function<bool()>& stopped) {
  const bool has_flags = flags.is_given("a") || flags.is_given("b");
  const bool has_refs = flags.is_given("ref-a") || flags.is_given("ref-b");
  const bool has_binaries = flags.is_given("binary-a") || flags.is_given("binary-b");
  if (has_flags + has_refs + has_binaries != 1) refuse_arms();
  for (const char* ref_flag : {"build", "anchor-ref"}) {
    if (flags.is_given(ref_flag) && !has_refs)
      throw UsageError("--" + std::string(ref_flag) + ": is for --ref-a and --ref-b",
                       "give --ref-a, such as --ref-a origin/main");
  }
  two = {plain_arm("A", base), plain_arm("B", base)};
  if (has_flags) take_flags(flags);
  if (has_binaries) take_binaries(flags);
  if (has_refs) take_refs(flags, base, stopped);
}

void CompareArms::take_flags(const CommandFlags& flags) {
  same_flags = false;
  for (std::size_t i = 0; i < two.size(); ++i) {
    FreshRun& run = two.at(i).run;
    two.at(i).arm.what = flags.text(i == 0 ? "a" : "b");
    FreshRun own;
    own.words = CLI::detail::split_up(two.at(i).arm.what);
    split_program(own);
    run.words.insert(run.words.end(), own.words.begin(), own.words.end());
    if (!own.program.empty()) run.program = own.program;
    std::vector<std::string> words = {"run"};
    words.insert(words.end(), run.words.begin(), run.words.end());
    try {
      check_command_line(words);
    } catch (const UsageError& error) {
      throw add_place<UsageError>(std::string(i == 0 ? "--a: " : "--b: "), error);
    }
  }
}

void CompareArms::take_binaries(const CommandFlags& flags) {
  constexpr std::array kFlags = {"binary-a", "binary-b"};
  for (std::size_t i = 0; i < two.size(); ++i) {
    two.at(i).arm.what = flags.text(kFlags.at(i));
    if (two.at(i).arm.what.empty()) {
      two.at(i).arm.what = "this loaderscope";
      continue;
    }
    two.at(i).run.binary = runnable(two.at(i).arm.what, i == 0 ? "--binary-a" : "--binary-b");
  }
}

void CompareArms::take_refs(const CommandFlags& flags, const RunConfig& base,
                            const std::function<bool()>& stopped) {
  if (!flags.is_given("ref-a"))
    throw UsageError("--ref-b: is compared with a ref",
                     "give --ref-a, such as --ref-a origin/main");
  refs.emplace(base, flags.text("build"), stopped);
  const std::string head = flags.is_given("ref-b") ? flags.text("ref-b") : "HEAD";
  if (refs->repository().is_dirty && head == "HEAD")
    notes.emplace_back("changes that are in no commit yet are not compared");
  two = {refs->add_watched("A", flags.text("ref-a")), refs->add("B", head)};
  if (flags.is_given("anchor-ref")) anchor = refs->add("anchor", flags.text("anchor-ref"));
}

std::string CompareArms::same_by_construction() const {
  return refs ? refs->why_unaffected(two[0].arm.commit, two[1].arm.commit) : "";
}

}  // namespace loaderscope
