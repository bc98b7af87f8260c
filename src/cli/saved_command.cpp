#include "cli/saved_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <utility>

#include "base/printable.h"
#include "cli/last_result.h"
#include "loaderscope/errors.h"
#include "settings/flag_words.h"

namespace loaderscope {
namespace {

// The whole command, because a part that is cut off could do the harm.
std::string program_of(const RunConfig& config) {
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

bool is_answered_with_yes() {
  std::string answer;
  return std::getline(std::cin, answer) && !answer.empty() &&
         (answer.front() == 'y' || answer.front() == 'Y');
}

}  // namespace

void announce_saved_command(const std::string& result, const RunConfig& config) {
  const std::string program = program_of(config);
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
