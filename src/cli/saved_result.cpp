#include "cli/saved_result.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>

#include "base/printable.h"
#include "cli/output.h"
#include "loaderscope/errors.h"
#include "report/schemas.h"
#include "settings/flag_words.h"
#include "source/cache_folder.h"

namespace loaderscope {
namespace {

constexpr const char* kLast = "last";
constexpr std::int64_t kMaxSteps = 1'000'000;

std::int64_t count_steps(const RunRecord& record) {
  std::int64_t steps = 0;
  for (const RankRecord& rank : record.ranks) steps += rank.rows.size();
  return steps;
}

std::string kept_at() {
  const std::string folder = source::user_cache_folder();
  return folder.empty() ? "" : folder + "/last.json";
}

// Returns true if `path`, which is missing, may be made: its first folder that exists is writable.
bool can_be_written(std::filesystem::path path) {
  std::error_code error;
  while (!path.empty() && !std::filesystem::exists(path, error)) path = path.parent_path();
  return std::filesystem::is_directory(path, error) && ::access(path.c_str(), W_OK) == 0;
}

// The whole command, because a part that is cut off could do the harm.
std::string program_words(const RunConfig& config) {
  const ProgramConfig& program = config.program;
  std::string words;
  for (const std::string& word : program.command.value)
    words += (words.empty() ? "" : " ") + quoted(word);
  // A loader of ours runs only our code, unless the file names another Python.
  const bool is_ours = program.loader.value.find(':') == std::string::npos &&
                       program.python.value == ProgramConfig().python.value;
  if (!program.loader.value.empty() && !is_ours)
    words = quoted(program.python.value) + " with --loader " + quoted(program.loader.value);
  for (const auto& [flag, value] : {std::pair(" --train-step ", program.train_step.value),
                                    std::pair(" --batch-function ", program.batch_function.value)})
    if (!words.empty() && !value.empty()) words += flag + quoted(value);
  return printable(words);
}

}  // namespace

bool is_answered_with_yes() {
  std::string answer;
  return std::getline(std::cin, answer) && !answer.empty() &&
         (answer.front() == 'y' || answer.front() == 'Y');
}

bool keep_last_result(const RunRecord& record, const AnyResult& result) {
  const std::string place = kept_at();
  if (place.empty()) return false;
  std::error_code error;
  if (count_steps(record) > kMaxSteps) {
    std::filesystem::remove(place, error);  // the file holds another run
    if (record.config.answer.json.value.empty())
      std::fputs(
          "loaderscope: the result is too large to be kept as 'last'; --json FILE saves it\n",
          stderr);
    return false;
  }
  try {
    write_private(place, [&](std::ostream& out) { write_json(out, result); });
  } catch (const RunError&) {
    return false;  // no room, or not allowed to
  }
  return true;
}

bool is_own_last_result(const std::string& given) {
  std::error_code error;
  return given == kLast && !std::filesystem::exists(given, error);
}

std::string place_of_result(const std::string& given) {
  std::error_code error;
  if (!is_own_last_result(given)) return given;
  const std::string place = kept_at();
  if (!place.empty() && std::filesystem::exists(place, error)) return place;
  if (place.empty() || !can_be_written(place))
    throw RunError("last: no run's result is kept, as the cache folder cannot be written",
                   "save a run with --json FILE, and give that file");
  throw RunError("last: no run's result is kept in the cache folder yet",
                 "make a run, or give the file of run --json FILE");
}

void announce_saved_command(const std::string& result, const RunConfig& config) {
  const std::string program = program_words(config);
  if (program.empty()) return;
  const std::string place = shown_text(result);
  if (program.find("***") != program.npos)
    throw RunError(
        fmt::format("{}: its command held a password or a signature, which is not saved ({})",
                    place, program),
        "give the command itself, as in 'loaderscope tune -- COMMAND'");
  std::fputs(fmt::format("loaderscope: {} runs: {}\n", place, program).c_str(), stderr);
  const bool can_ask = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  if (!can_ask || is_own_last_result(result)) return;
  std::fputs("loaderscope: run it? [y/N] ", stderr);
  if (!is_answered_with_yes())
    throw RunError(place + ": its program was not run", "look at it, or give your own after '--'");
}

}  // namespace loaderscope
