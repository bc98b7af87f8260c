// Parser of the command line, which finds one command.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "base/python_script.h"
#include "cli/command.h"
#include "cli/config_flags.h"
#include "cli/help.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "job/version_text.h"
#include "manual/topics.h"
#include "report/text_table.h"

namespace loaderscope {
namespace {

constexpr int kWidth = 100;

std::string indented(const std::string& text, int indent) {
  return std::string(static_cast<std::size_t>(indent), ' ') + right_column(text, kWidth, indent) +
         "\n";
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::string names = is_positional ? option->get_name(true) : all_names(*option);
    std::string value = option->get_type_name();
    if (!value.empty()) value.insert(0, 1, ' ');
    return "  " + names + (is_positional ? "" : value) + "\n" +
           indented(option->get_description(), 6);
  }

  std::string make_usage(const CLI::App* app, std::string) const override {
    std::string name = app->get_name();
    for (const CLI::App* parent = app->get_parent(); parent; parent = parent->get_parent()) {
      name.insert(0, parent->get_name() + " ");
    }
    const std::string prefix = "Usage: " + name;
    std::string positionals;
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_positional()) positionals += " [" + option->get_name(true) + "]";
    }
    const bool has_commands = !app->get_subcommands({}).empty();
    const bool takes_program = app->get_option_no_throw("--command") != nullptr;
    return prefix + (has_commands ? " COMMAND" : "") + positionals + " [FLAGS]" +
           (takes_program ? " [-- PROGRAM ...]" : "") + "\n";
  }

  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, "  " + command->get_name(), command->get_description(), 12);
    return out.str();
  }

 private:
  static std::string all_names(const CLI::Option& option) {
    std::string names;
    const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
    for (const std::string& name : option.get_snames()) add("-" + name);
    for (const std::string& name : option.get_lnames()) add("--" + name);
    return names;
  }
};

// The layout of --help: flags on one line, their sentence below it, wrapped.
std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

struct Subcommand {
  CLI::App* app;
  Action action;
};

constexpr const char* kProgram = "loaderscope";

void declare_commands(CLI::App& parent, std::span<const Command> commands,
                      std::vector<Subcommand>& result) {
  for (const Command& command : commands) {
    CLI::App* app =
        parent.add_subcommand(std::string(command.row.name), std::string(command.row.help));
    app->allow_extras();
    app->formatter(help_formatter());
    app->require_subcommand(0, 1);
    declare_commands(*app, command.parts, result);
    // Adds the parts first, so that the innermost parsed command comes first.
    result.push_back({app, command.declare ? command.declare(*app) : Action()});
    if (command.shows_progress)
      app->add_flag_callback("--no-progress", ProgressPrinter::format_none,
                             "Print no progress on standard error.");
  }
}

// Long names without their dashes, which would make any two short flags look alike.
std::vector<std::string> list_flags(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() == kHidden) continue;
    const std::vector<std::string>& names = option->get_lnames();
    flags.insert(flags.end(), names.begin(), names.end());
  }
  return flags;
}

// "loaderscope data make"
std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent ? full_name(*parent) + " " + app.get_name() : kProgram;
}

std::string see_help(const CLI::App& app) { return "see " + full_name(app) + " --help"; }

// Programs that people start without the "--" before them.
bool is_program(const std::string& word) {
  static const std::set<std::string> starters = {"torchrun", "accelerate", "deepspeed", "mpirun",
                                                 "srun",     "bash",       "sh",        "uv"};
  return is_python_script(word) || word.ends_with(".sh") || word.starts_with("python") ||
         starters.contains(word);
}

// "run train.py", "run python train.py" and "loaderscope python train.py".
bool is_meant_as_program(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.front().starts_with('-')) return false;
  const bool takes_program = app.get_option_no_throw("--command") != nullptr;
  return is_program(words.front()) && (takes_program || app.get_parent() == nullptr);
}

[[noreturn]] void refuse_program(const std::vector<std::string>& words) {
  std::string program = is_python_script(words.front()) ? "python" : "";
  for (const std::string& word : words) program += (program.empty() ? "" : " ") + word;
  throw UsageError(shown_text(words.front()) + ": a program comes after \"--\"",
                   "loaderscope run -- " + shown_text(program));
}

// The first word that no flag and no command takes.
[[noreturn]] void refuse_word(const CLI::App& app, const std::vector<std::string>& words) {
  const std::string& word = words.front();
  if (is_meant_as_program(app, words)) refuse_program(words);
  if (word.starts_with('-')) {
    const std::string flag = word.substr(0, word.find('='));
    const std::vector<std::string> flags = list_flags(app);
    const std::string bare = flag.substr(std::min(flag.size(), flag.find_first_not_of('-')));
    const std::string nearest = nearest_word(bare, {flags.begin(), flags.end()});
    const std::string hint = nearest.empty() ? see_help(app) : "did you mean '--" + nearest + "'?";
    throw UsageError(shown_text(flag) + ": unknown flag", hint);
  }
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (names.empty()) throw UsageError(shown_text(word) + ": unexpected word", see_help(app));
  std::string hint = did_you_mean(word, {names.begin(), names.end()});
  if (manual::find_topic(word) != nullptr && app.get_parent() == nullptr)
    hint = "see loaderscope help " + word;
  throw UsageError(shown_text(word) + ": unknown command", hint.empty() ? see_help(app) : hint);
}

void refuse_leftovers(const CLI::App& app) {
  std::vector<std::string> words = app.remaining();
  std::erase(words, "--");
  if (!words.empty()) refuse_word(app, words);
}

// CLI11 reports "--steps: 1 required N missing".
[[noreturn]] void rethrow(const CLI::ParseError& error) {
  const std::string what = error.what();
  if (error.get_name() == "ArgumentMismatch" && what.starts_with("--")) {
    const std::string flag = what.substr(0, what.find(':'));
    throw UsageError(flag + ": a value is missing", "give it as in " + flag + "=VALUE");
  }
  throw UsageError(what);
}

// "run -- python train.py" as "run --command python --command train.py", so that it is a setting
// like any other.
std::vector<std::string> with_program_as_flags(const std::vector<std::string>& words) {
  const auto mark = std::find(words.begin(), words.end(), "--");
  const bool takes_program =
      !words.empty() &&
      std::any_of(command_table().begin(), command_table().end(), [&](const Command& command) {
        return command.takes_program && command.row.name == words.front();
      });
  if (!takes_program || mark == words.end()) return words;
  if (mark + 1 == words.end())
    throw UsageError("--: a program is missing", "loaderscope run -- python train.py");
  std::vector<std::string> flags(words.begin(), mark);
  for (auto word = mark + 1; word != words.end(); ++word) {
    flags.push_back("--command");
    flags.push_back(*word);
  }
  return flags;
}

ExitCode print_version(const std::vector<std::string>& words) {
  StandardOutput out;
  if (std::find(words.begin(), words.end(), "--json") != words.end()) {
    write_version_json(out.stream());
  } else {
    out.stream() << version_text() << "\n";
  }
  return out.finish();
}

ExitCode print(const std::string& text) {
  StandardOutput out;
  out.stream() << text;
  return out.finish();
}

// The commands and flags that there are.
struct Declared {
  Declared() {
    root.formatter(help_formatter());
    root.set_version_flag("--version", version_text(),
                          "Print the version and exit; with --json as JSON.");
    root.set_help_flag("-h,--help", "Print the most frequent flags and exit.");
    root.set_help_all_flag("--help-all", "Print all flags and exit.");
    root.require_subcommand(0, 1);
    root.allow_extras();
    declare_commands(root, command_table(), commands);
  }

  CLI::App root{"Measures the data loader of a GPU training job and says what the GPU waits for.",
                kProgram};
  std::vector<Subcommand> commands;
};

void parse(Declared& declared, const std::vector<std::string>& given) {
  std::vector<std::string> words = with_program_as_flags(given);
  std::reverse(words.begin(), words.end());  // order that CLI11 expects
  declared.root.parse(std::move(words));
}

// The innermost command of the words, or the root.
const CLI::App& parsed_command(const CLI::App& app) {
  const std::vector<const CLI::App*> commands = app.get_subcommands({});
  for (const CLI::App* command : commands)
    if (command->parsed()) return parsed_command(*command);
  return app;
}

}  // namespace

ExitCode run_command_line(int argc, const char* const* argv) {
  Declared declared;
  CLI::App& root = declared.root;
  try {
    parse(declared, {argv + std::min(argc, 1), argv + argc});
  } catch (const CLI::CallForHelp&) {
    refuse_leftovers(root);
    return print(short_help(parsed_command(root)));
  } catch (const CLI::CallForAllHelp&) {
    refuse_leftovers(root);
    return print(parsed_command(root).help());
  } catch (const CLI::CallForVersion&) {
    return print_version({argv + std::min(argc, 1), argv + argc});
  } catch (const CLI::ParseError& error) {
    rethrow(error);
  }
  refuse_leftovers(root);
  for (const Subcommand& command : declared.commands) {
    if (!command.app->parsed()) continue;
    refuse_leftovers(*command.app);
    if (command.action) return command.action();
    std::fputs(short_help(*command.app).c_str(), stderr);
    return ExitCode::usage;
  }
  return print(std::string(kOverview));
}

void check_command_line(const std::vector<std::string>& words) {
  Declared declared;
  try {
    parse(declared, words);
  } catch (const CLI::Success&) {
    return;  // --help, --version
  } catch (const CLI::ParseError& error) {
    rethrow(error);
  }
  refuse_leftovers(declared.root);
  for (const Subcommand& command : declared.commands) {
    if (command.app->parsed()) refuse_leftovers(*command.app);
  }
}

}  // namespace loaderscope
