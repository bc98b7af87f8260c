// loaderscope help
#include "cli/help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>

#include "cli/command.h"
#include "cli/output.h"
#include "manual/topics.h"
#include "report/text_table.h"

namespace loaderscope {
namespace {

using manual::Topic;

constexpr int kColumns = 80;
constexpr int kFlagColumns = 27;
constexpr std::size_t kManyFlags = 20;

const CLI::App* find_root(const CLI::App& app) {
  const CLI::App* root = &app;
  while (root->get_parent() != nullptr) root = root->get_parent();
  return root;
}

std::set<std::string> flags_of_run(const CLI::App& command) {
  std::set<std::string> names;
  for (const CLI::App* app : find_root(command)->get_subcommands({}))
    if (app->get_name() == "run")
      for (const CLI::Option* option : app->get_options())
        for (const std::string& name : option->get_lnames()) names.insert(name);
  return names;
}

std::string flag_text(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames()) text += "-" + name;
  for (const std::string& name : option.get_lnames()) text += (text.empty() ? "--" : ", --") + name;
  const std::string type = option.get_type_name();
  return type.empty() ? text : text + " " + type;
}

// The first sentence on lines that begin at the column of the sentences.
std::string flag_lines(const std::string& flag, std::string help) {
  if (const std::size_t stop = help.find(". "); stop != help.npos) help.resize(stop + 1);
  if (!help.empty() && help.back() == '.') help.pop_back();
  std::string result, line = "  " + flag;
  if (line.size() + 2 > std::size_t{kFlagColumns}) {
    result = line + "\n";
    line.clear();
  }
  line.resize(std::size_t{kFlagColumns}, ' ');
  return result + line + right_column(help, kColumns, kFlagColumns) + "\n";
}

std::string name_with_parents(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : name_with_parents(*parent) + " " + app.get_name();
}

const CLI::App* find_command(const CLI::App& parent, const std::string& name) {
  for (const CLI::App* command : parent.get_subcommands({})) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

[[noreturn]] void refuse(const std::string& name, const CLI::App& root) {
  std::vector<std::string_view> known;
  std::string expected;
  for (const Topic& topic : manual::topic_table()) {
    known.push_back(topic.row.name);
    expected += " " + std::string(topic.row.name);
  }
  std::vector<std::string> commands;
  for (const CLI::App* command : root.get_subcommands({})) commands.push_back(command->get_name());
  known.insert(known.end(), commands.begin(), commands.end());
  throw UsageError("help " + shown_text(name) + ": expected a command or one of" + expected,
                   did_you_mean(name, known));
}

// Titles, as they are what a reader searches for.
void list_topics(std::ostream& out) {
  std::size_t width = 0;
  for (const Topic& topic : manual::topic_table()) width = std::max(width, topic.row.name.size());
  out << "The manual: loaderscope help TOPIC\n";
  const Topic* before = nullptr;
  for (const Topic& topic : manual::topic_table()) {
    if (before == nullptr || before->section != topic.section)
      out << "\n" << manual::section_heading(topic.section) << "\n";
    out << "  " << topic.row.name << std::string(width + 2 - topic.row.name.size(), ' ')
        << topic.title << "\n";
    before = &topic;
  }
  out << "\nThe flags of a command: loaderscope help COMMAND\n";
}

// "data make" is a command within a command.
std::string help_of_command(const CLI::App* command, std::span<const std::string> parts) {
  for (const std::string& part : parts) {
    const CLI::App* inner = find_command(*command, part);
    if (inner == nullptr)
      throw UsageError(
          "help " + shown_text(part) + ": " + command->get_name() + " has no such command",
          std::string("see loaderscope help ") + command->get_name());
    command = inner;
  }
  return short_help(*command);
}

ExitCode help(const std::vector<std::string>& words, const CLI::App& root) {
  StandardOutput out;
  if (words.empty()) {
    list_topics(out.stream());
  } else if (const CLI::App* command = find_command(root, words.front())) {
    out.stream() << help_of_command(command, std::span(words).subspan(1));
  } else if (const Topic* topic = manual::find_topic(words.front()); topic && words.size() == 1) {
    out.stream() << topic->text;
  } else {
    refuse(topic ? words[1] : words.front(), root);
  }
  return out.finish();
}

}  // namespace

const std::string_view kOverview =
    R"(loaderscope finds out why a GPU waits for its data, and what to change.

Start here
  loaderscope run -- python train.py      why does my GPU wait?
  loaderscope tune -- python train.py     how many workers do I need?
  loaderscope demo                        ten seconds, no data or GPU needed

Measure
  run         a training program, or the built-in loader
  watch       a job that is already running
  diagnose    a trace of nsys, torch.profiler or py-spy
  probe       this machine: storage, decoding, memory, links

Choose
  tune        find the smallest settings that are as fast as the best
  sweep       measure a grid of settings
  what-if     predict a run with other settings
  plan        predict a job of many ranks and hosts
  apply       change the DataLoader of train.py as the Fix says

Guard
  compare     find out whether a change makes loading slower
  ci          write the workflow that does this for pull requests
  selftest    check that known delays are found on this machine

Show
  report      show a saved result in another form
  merge       combine the results of several hosts
  explain     explain a word of an answer
  list        list formats, devices, findings and other families
  mcp         serve these commands as tools to a coding agent

Prepare
  data        make, pack or describe a data set

Flags: loaderscope COMMAND --help     Guides: loaderscope help
)";

const std::string_view kRunHelp = R"(Measure one configuration and say what the GPU waits for.

Examples
  loaderscope run -- python train.py              your program, unedited
  loaderscope run --steps 200 -- torchrun --nproc-per-node 8 train.py
  loaderscope run --data photos --compute 36ms    the built-in loader
  loaderscope run --data photos --device null     the loader alone

What to measure
  -- PROGRAM ...           a training program; its DataLoader is found
  --loader FILE.py:NAME    a function that makes a loader
  --data [FORMAT:]PATH     a data set for the built-in loader; repeatable
  --scenario FILE          settings from a file; flags override them

Loader
  --num-workers N          workers per rank (one per usable core)
  --prefetch-factor N      batches in flight per worker (2)
  --batch-size N           samples per batch (64)
  --pin-memory             copy batches into page-locked memory
  --persistent-workers     keep the workers between epochs
  --shuffle                read the data in a new order each epoch
  --drop-last              leave out a short last batch

Trainer
  --compute TIME           time of a step on the device, such as 36ms
  --demand RATE            samples per second that the training needs
  --device NAME            cuda, sim or null (cuda if there is a GPU)
  --ranks N                trainers on this machine (1)

Measurement
  --duration TIME          length of the window (10s)
  --steps N                length of the window in steps
  --warmup N|TIME          steps or time before the window (5)
  --cache STATE            page cache at the start: as-is, warm, cold (as-is)

Answer
  --try                    test the Fix in short runs
  --against RESULT         compare with an earlier run, such as last
  --prove                  test the verdict in short runs
  --json FILE              save the result
  --html FILE              save a page with pictures
  --require CONDITION      exit with 2 unless it holds; repeatable
  -v, -vv                  print more, print everything

All flags: loaderscope run --help-all
Guides: loaderscope help workers, loaderscope help gpu-utilisation
)";

std::string short_help(const CLI::App& command) {
  if (command.get_name() == "run") return std::string(kRunHelp);
  if (command.get_parent() == nullptr) return std::string(kOverview);
  const std::set<std::string> run_flags = flags_of_run(command);
  std::string own, positionals;
  std::size_t left_out = 0;
  std::vector<const CLI::Option*> options = command.get_options();
  const auto is_of_run = [&](const CLI::Option* option) {
    const auto& names = option->get_lnames();
    return !names.empty() && run_flags.contains(names.front());
  };
  const bool measures = static_cast<std::size_t>(
                            std::count_if(options.begin(), options.end(), is_of_run)) > kManyFlags;
  for (const CLI::Option* option : options) {
    if (option->get_positional()) {
      positionals += " [" + option->get_name(true) + "]";
      own += flag_lines(option->get_name(true), option->get_description());
    } else if (measures && is_of_run(option)) {
      ++left_out;
    } else if (!option->get_group().empty() &&
               option->get_lnames() != std::vector<std::string>{"help-all"}) {
      own += flag_lines(flag_text(*option), option->get_description());
    }
  }
  const std::string name = name_with_parents(command);
  std::string text = command.get_description() + "\n\nUsage: " + name;
  const std::vector<const CLI::App*> parts = command.get_subcommands({});
  text += (parts.empty() ? "" : " COMMAND") + positionals + " [FLAGS]";
  text += command.get_option_no_throw("--command") != nullptr ? " [-- PROGRAM ...]\n" : "\n";
  for (const CLI::App* part : parts) text += flag_lines(part->get_name(), part->get_description());
  if (!own.empty()) text += "\nFlags\n" + own;
  if (left_out > 0)
    text += "\nIt also takes the flags of the loader that is measured: loaderscope run --help\n";
  return text + "\nMore on each flag: " + name + " --help-all\n";
}

Action declare_help(CLI::App& app) {
  const auto words = std::make_shared<std::vector<std::string>>();
  app.add_option("TOPIC", *words,
                 "Print a topic of the manual or a command. Default: list all topics.");
  return [words, root = app.get_parent()] { return help(*words, *root); };
}

}  // namespace loaderscope
