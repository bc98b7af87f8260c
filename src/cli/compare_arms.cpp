#include "cli/compare_arms.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/file_kind.h"
#include "cli/command.h"
#include "experiment/compare/reach.h"
#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "settings/flag_words.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

// "files:in1k/train?x=1" names in1k/train of the folder that we work in, if that is there.
std::string with_own_folder(const std::string& data) {
  const std::size_t colon = data.find(':');
  const std::size_t begin = colon == std::string::npos ? 0 : colon + 1;
  const std::string path = data.substr(begin);
  const std::size_t end = std::min(path.find_first_of("{?"), path.size());
  const fs::path plain = path.substr(0, end);
  std::error_code error;
  const fs::path there = end < path.size() ? plain.parent_path() : plain;
  if (plain.is_absolute() || there.empty() || !fs::exists(there, error)) return data;
  return data.substr(0, begin) + fs::absolute(plain).string() + path.substr(end);
}

// The same bytes for both commits, whatever they have there themselves.
RunConfig with_own_data(RunConfig config) {
  if (!config.data.paths.given) return config;
  for (std::string& path : config.data.paths.value) path = with_own_folder(path);
  return config;
}

void split_program(FreshRun& run) {
  const auto mark = std::find(run.words.begin(), run.words.end(), "--");
  if (mark == run.words.end()) return;
  run.program.assign(mark + 1, run.words.end());
  run.words.erase(mark, run.words.end());
}

[[noreturn]] void refuse_arms() {
  throw UsageError(
      "compare: give two of one kind, such as --a '--num-workers 2' --b '--num-workers 4', --ref-a "
      "origin/main --ref-b HEAD, --binary-a OLD --binary-b NEW, or two results");
}

std::string runnable(const std::string& binary, const char* flag) {
  std::error_code error;
  const fs::path path = fs::absolute(binary, error);
  if (!fs::is_regular_file(path, error))
    throw UsageError(std::string(flag) + " " + shown_text(binary) +
                     ": there is no such file; name a loaderscope program");
  return path.string();
}

}  // namespace

CompareArms::CompareArms(const OwnFlags& flags, const RunConfig& base,
                         const std::function<bool()>& stopped)
    : stopped_(stopped),
      base_(base),
      place_(fs::temp_directory_path().string(), "loaderscope-compare-") {
  const bool of_flags = flags.is_given("a") || flags.is_given("b");
  const bool of_refs = flags.is_given("ref-a") || flags.is_given("ref-b");
  const bool of_binaries = flags.is_given("binary-a") || flags.is_given("binary-b");
  if (of_flags + of_refs + of_binaries != 1) refuse_arms();
  if (flags.is_given("build") && !of_refs)
    throw UsageError(
        "--build: is for --ref-a and --ref-b; build before, and give --binary-a and "
        "--binary-b");
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    arms_.at(i).name = i == 0 ? "A" : "B";
    runs_.at(i).name = arms_.at(i).name;
    runs_.at(i).words = flag_words(of_refs ? with_own_data(base) : base);
    runs_.at(i).program = base.program.command.value;
  }
  if (of_flags) take_flags(flags);
  if (of_binaries) take_binaries(flags);
  if (of_refs) take_refs(flags, base);
}

void CompareArms::take_flags(const OwnFlags& flags) {
  same_flags_ = false;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    FreshRun& run = runs_.at(i);
    arms_.at(i).what = flags.text(i == 0 ? "a" : "b");
    FreshRun own;
    own.words = CLI::detail::split_up(arms_.at(i).what);
    split_program(own);
    run.words.insert(run.words.end(), own.words.begin(), own.words.end());
    if (!own.program.empty()) run.program = own.program;
    std::vector<std::string> words = {"run"};
    words.insert(words.end(), run.words.begin(), run.words.end());
    try {
      check_command_line(words);
    } catch (const UsageError& error) {
      throw UsageError(std::string(i == 0 ? "--a: " : "--b: ") + error.what());
    }
  }
}

void CompareArms::take_binaries(const OwnFlags& flags) {
  constexpr std::array kFlags = {"binary-a", "binary-b"};
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    arms_.at(i).what = flags.text(kFlags.at(i));
    if (arms_.at(i).what.empty()) {
      arms_.at(i).what = "this loaderscope";
      continue;
    }
    runs_.at(i).binary = runnable(arms_.at(i).what, i == 0 ? "--binary-a" : "--binary-b");
  }
}

void CompareArms::take_refs(const OwnFlags& flags, const RunConfig& base) {
  if (!flags.is_given("ref-a"))
    throw UsageError("--ref-b: is compared with a ref; give --ref-a, such as --ref-a origin/main");
  if (!base.program.command.given && !base.program.loader.given)
    throw UsageError(
        "--ref-a: nothing of a commit would be run; give --loader FILE.py:FUNCTION, or "
        "a program behind --");
  const compare::Repository repository = compare::find_repository();
  const std::string head = flags.is_given("ref-b") ? flags.text("ref-b") : "HEAD";
  if (repository.is_dirty && head == "HEAD")
    notes_.emplace_back("changes that are in no commit yet are not compared");
  const std::array<std::string, 2> refs = {flags.text("ref-a"), head};
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::string path = place_.path() + "/" + arms_.at(i).name;
    trees_.push_back(std::make_unique<compare::WorkTree>(repository, refs.at(i), path, stopped_));
    arms_.at(i).what = refs.at(i);
    arms_.at(i).commit = trees_.back()->commit();
    runs_.at(i).folder = trees_.back()->folder();
  }
  if (!flags.is_given("build")) {
    changes_ = changes_between(repository, arms_[0].commit, arms_[1].commit);
    runs_[0].variables = {{"LOADERSCOPE_TOUCHED", touched_file()},
                          {"LOADERSCOPE_TOUCHED_BELOW", fs::canonical(trees_[0]->root()).string()}};
    return;
  }
  for (const auto& tree : trees_) tree->build(flags.text("build"), stopped_);
}

std::string CompareArms::same_by_construction() const {
  if (trees_.empty() || runs_[0].variables.empty()) return "";
  return out_of_reach(compare::read_changes(changes_),
                      compare::read_touched(readable_text(touched_file())));
}

RunRecord CompareArms::run(std::int64_t arm, const compare::RunLength& length,
                           Nanos patience) const {
  FreshRun run = runs_.at(static_cast<std::size_t>(arm));
  const auto add = [&](const char* flag, const std::string& value) {
    run.words.insert(run.words.end(), {flag, value});
  };
  if (length.steps > 0) add("--steps", std::to_string(length.steps));
  if (length.duration > 0) add("--duration", spell_duration(length.duration));
  if (length.warmup > 0) add("--warmup", std::to_string(length.warmup));
  add("--seed", std::to_string(base_.measure.seed.value + length.block));
  if (!run.program.empty()) run.words.emplace_back("--no-hook-cost");
  if (length.block > 0) run.variables.clear();  // only the first run is looked at
  return run_fresh(run, place_.path(), patience, stopped_);
}

}  // namespace loaderscope
