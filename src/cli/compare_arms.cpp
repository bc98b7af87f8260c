#include "cli/compare_arms.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/command.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

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

CompareArms::CompareArms(const CommandFlags& flags, const RunConfig& base,
                         const std::function<bool()>& stopped) {
  const bool of_flags = flags.is_given("a") || flags.is_given("b");
  const bool of_refs = flags.is_given("ref-a") || flags.is_given("ref-b");
  const bool of_binaries = flags.is_given("binary-a") || flags.is_given("binary-b");
  if (of_flags + of_refs + of_binaries != 1) refuse_arms();
  for (const char* of_refs_only : {"build", "anchor-ref"}) {
    if (flags.is_given(of_refs_only) && !of_refs)
      throw UsageError("--" + std::string(of_refs_only) + ": is for --ref-a and --ref-b",
                       "give --ref-a, such as --ref-a origin/main");
  }
  two = {plain_arm("A", base), plain_arm("B", base)};
  if (of_flags) take_flags(flags);
  if (of_binaries) take_binaries(flags);
  if (of_refs) take_refs(flags, base, stopped);
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
