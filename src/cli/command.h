// The commands of the program: one file and one row each.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/errors.h"
#include "loaderscope/rows.h"

namespace CLI {
class App;
}

namespace loaderscope {

using Action = std::function<ExitCode()>;

struct Command {
  Row row;
  // Adds the command's flags to `app`. What it returns runs the command, once the flags have been
  // parsed. Null for a command that only has parts.
  Action (*declare)(CLI::App& app) = nullptr;
  std::span<const Command> parts = {};  // "make" of "data make"
  bool takes_program = false;   // words after -- are the words of a program, each as --command
  bool shows_progress = false;  // --no-progress is accepted
  // Words that may follow the command, for shells. Null if a family has this command as its flag.
  std::vector<std::string> (*words)() = nullptr;
};

std::span<const Command> command_table();  // src/cli/commands.cpp

Action declare_run(CLI::App& app);
Action declare_sweep(CLI::App& app);
Action declare_tune(CLI::App& app);
Action declare_compare(CLI::App& app);
Action declare_what_if(CLI::App& app);
Action declare_plan(CLI::App& app);
Action declare_merge(CLI::App& app);
Action declare_selftest(CLI::App& app);
Action declare_apply(CLI::App& app);
Action declare_mcp(CLI::App& app);
Action declare_report(CLI::App& app);
Action declare_list(CLI::App& app);
Action declare_explain(CLI::App& app);
Action declare_help(CLI::App& app);
Action declare_demo(CLI::App& app);
Action declare_completion(CLI::App& app);
Action declare_data_make(CLI::App& app);
Action declare_data_info(CLI::App& app);
Action declare_data_pack(CLI::App& app);
Action declare_probe(CLI::App& app);
Action declare_probe_link(CLI::App& app);
Action declare_watch(CLI::App& app);
Action declare_diagnose(CLI::App& app);
Action declare_ci_init(CLI::App& app);

std::vector<std::string> family_names();  // arguments of `list`
std::vector<std::string> shell_names();   // arguments of `completion`
std::vector<std::string> known_words();   // arguments of `explain`: rows of all families, metrics

// Parses the words of the command line, runs the command and returns the exit code.
// Throws UsageError and RunError.
ExitCode run_command_line(int argc, const char* const* argv);

// Throws UsageError for an unknown command or flag. Runs nothing and checks no value.
void check_command_line(const std::vector<std::string>& words);  // words after the program's name

}  // namespace loaderscope
