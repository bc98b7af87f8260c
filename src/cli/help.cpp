// loaderscope help
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/overview.h"
#include "manual/topics.h"

namespace loaderscope {
namespace {

using manual::Topic;

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
  throw UsageError("help " + shown_text(name) + ": expected a command or one of" + expected +
                   suggestion(name, known));
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
      throw UsageError("help " + shown_text(part) + ": " + command->get_name() +
                       " has no such command; see loaderscope help " + command->get_name());
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

Action declare_help(CLI::App& app) {
  const auto words = std::make_shared<std::vector<std::string>>();
  app.add_option("TOPIC", *words,
                 "Print a topic of the manual or a command. Default: list all topics.");
  return [words, root = app.get_parent()] { return help(*words, *root); };
}

}  // namespace loaderscope
