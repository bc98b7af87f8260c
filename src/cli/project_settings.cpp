#include "cli/project_settings.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/printable.h"
#include "loaderscope/errors.h"
#include "settings/flag_words.h"
#include "settings/project.h"

namespace loaderscope {
namespace {

constexpr const char* kMark = "--no-project";  // the flag of commands that read a project

// Flags that a file cannot set, because they say which files are read, or ask for help.
bool is_of_command_line(std::string_view name) {
  constexpr std::string_view kNames[] = {"help",  "help-all",   "scenario",
                                         "force", "no-project", "no-progress"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

const CLI::Option* find_option(const CLI::App& app, const std::string& key) {
  return is_of_command_line(key) ? nullptr : app.get_option_no_throw("--" + key);
}

void add_names(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // a name of an earlier version
    for (const std::string& name : option->get_lnames())
      if (!is_of_command_line(name)) names.push_back(name);
  }
}

std::vector<const CLI::App*> project_commands(const CLI::App& app) {
  std::vector<const CLI::App*> commands = app.get_parent()->get_subcommands({});
  std::erase_if(commands,
                [](const CLI::App* one) { return one->get_option_no_throw(kMark) == nullptr; });
  return commands;
}

// Returns the commands that a line is for. Throws UsageError if no command has the name.
std::vector<const CLI::App*> line_commands(const ProjectLine& line,
                                           const std::vector<const CLI::App*>& commands) {
  if (line.command.empty()) return commands;
  std::vector<std::string_view> names;
  for (const CLI::App* command : commands) {
    if (command->get_name() == line.command) return {command};
    names.push_back(command->get_name());
  }
  const std::string hint = did_you_mean(line.command, names);
  throw UsageError(
      fmt::format("{}: [{}] is no command that takes settings of a project", line.place,
                  shown_text(line.command)),
      hint.empty() ? fmt::format("the commands are {}", fmt::join(names, ", ")) : hint);
}

void check_line(const ProjectLine& line, const std::vector<const CLI::App*>& all) {
  const std::vector<const CLI::App*> commands = line_commands(line, all);
  const bool is_known = std::any_of(commands.begin(), commands.end(), [&](const CLI::App* one) {
    return find_option(*one, line.key) != nullptr;
  });
  if (!is_known) {
    std::vector<std::string> names;
    for (const CLI::App* command : commands) add_names(*command, names);
    const std::string hint = did_you_mean(line.key, {names.begin(), names.end()});
    throw UsageError(
        fmt::format("{}: {} is no setting of a command", line.place, shown_text(line.key)),
        hint.empty() ? "give the name of a flag, as in loaderscope run --help-all" : hint);
  }
  const Field* field = find_field(line.key);
  if (field == nullptr) return;
  if (line.is_of_list && !field->repeats)
    throw UsageError(fmt::format("{}: {} has one value, and not a list", line.place, line.key),
                     "give the value without brackets");
  RunConfig scratch;
  set_field(scratch, line.place, line.key, line.value);
}

std::string setting_name(const std::string& key) {
  const Field* field = find_field(key);
  return field != nullptr ? std::string(field->name) : key;
}

// A path of the file is relative to the folder of the file.
std::string join_folder(const std::string& folder, const std::string& type,
                        const std::string& value) {
  const bool is_data = type == "[FORMAT:]PATH";
  const bool is_function = type.starts_with("FILE.py");
  const bool is_file = type.starts_with("FILE") || type == "RESULT";
  if (folder.empty() || value.empty() || !(is_data || is_file)) return value;
  if (value == "-" || value == "none" || value == "last" || value.find("://") != value.npos ||
      (is_function && value.find(".py:") == value.npos))
    return value;
  const std::size_t colon = is_data ? value.find(':') : value.npos;
  const std::size_t begin = colon != value.npos && value.find('/') > colon ? colon + 1 : 0;
  if (value.compare(begin, 1, "/") == 0) return value;
  return value.substr(0, begin) + folder + "/" + value.substr(begin);
}

// Returns true if the command line or the scenario says what is measured.
bool has_subject(const RunConfig& config) {
  const auto fields_of_data = [&](const Field& field) {
    return field.is_about(about::kWhichData) && field.given(config);
  };
  return config.program.command.given || config.program.loader.given || config.engine.given ||
         config.declared.cost.given ||
         std::any_of(fields().begin(), fields().end(), fields_of_data);
}

// Returns true if the program after "--" or the flags of a loader take the place of the line.
bool is_replaced(const ProjectLine& line, const RunConfig& config) {
  const Field* field = find_field(line.key);
  if (field == nullptr) return false;
  if (field->name == "command" || field->name == "loader") return has_subject(config);
  return field->is_about(about::kWhichData) && config.program.command.given;
}

// The lines for one command, as far as flags do not replace them.
std::vector<ProjectLine> active_lines(const Project& project, const CLI::App& app,
                                      const std::vector<std::string_view>& listed,
                                      const RunConfig& config) {
  std::vector<ProjectLine> lines;
  std::vector<std::string> own;  // settings of the table of this command
  for (const ProjectLine& line : project.lines)
    if (line.command == app.get_name()) own.push_back(setting_name(line.key));
  for (ProjectLine line : project.lines) {
    const CLI::Option* option = find_option(app, line.key);
    const std::string name = setting_name(line.key);
    const bool is_listed = std::find(listed.begin(), listed.end(), name) != listed.end();
    const bool is_elsewhere = line.command.empty()
                                  ? std::find(own.begin(), own.end(), name) != own.end()
                                  : line.command != app.get_name();
    if (option == nullptr || is_listed || is_elsewhere || is_replaced(line, config)) continue;
    line.value = join_folder(project.folder, option->get_type_name(), line.value);
    lines.push_back(std::move(line));
  }
  return lines;
}

// "python train.py" in one text becomes two words. A program works in the folder of the file.
void complete_command(const Project& project, const RunConfig& config,
                      std::vector<ProjectLine>& lines, std::vector<std::string>& command) {
  std::vector<ProjectLine> all;
  std::string place;
  for (ProjectLine& line : lines) {
    if (setting_name(line.key) != "command") {
      all.push_back(std::move(line));
      continue;
    }
    place = line.place;
    const std::vector<std::string> words =
        line.is_of_list ? std::vector{line.value} : CLI::detail::split_up(line.value);
    for (const std::string& word : words) {
      all.push_back({line.place, line.command, line.key, word, true});
      command.push_back(word);
    }
  }
  if (!place.empty() && !project.folder.empty() && !config.program.directory.given)
    all.push_back({place, "", "directory", project.folder, false});
  lines = std::move(all);
}

void say_project(const Project& project, const std::vector<std::string>& command) {
  std::string text = "loaderscope: settings from " + shown_text(project.path);
  for (std::size_t i = 0; i < command.size(); ++i)
    text += (i == 0 ? ", which runs: " : " ") + printable(quoted(command[i]));
  std::fputs((text + "\n").c_str(), stderr);
}

}  // namespace

void add_project(const CLI::App& app, const std::vector<std::string_view>& listed,
                 RunConfig& config, OtherKeys& others) {
  if (std::getenv(kNoProject) != nullptr) return;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::current_path(error);
  if (error) return;  // the folder was removed
  const std::optional<Project> project = find_project(folder);
  if (!project) return;
  const std::vector<const CLI::App*> commands = project_commands(app);
  for (const ProjectLine& line : project->lines) check_line(line, commands);
  std::vector<ProjectLine> lines = active_lines(*project, app, listed, config);
  if (lines.empty()) return;
  std::vector<std::string> command;
  complete_command(*project, config, lines, command);
  std::vector<KeyLine> keys;
  for (const ProjectLine& line : lines) keys.push_back({line.place, line.key, line.value});
  OtherKeys own{others.names, {}};
  merge_lines(std::move(keys), config, own);
  const OtherKeys before = others;
  for (auto& [key, value] : own.found) {
    const bool is_given =
        std::any_of(before.found.begin(), before.found.end(),
                    [&, name = key](const auto& one) { return one.first == name; });
    if (!is_given) others.found.emplace_back(std::move(key), std::move(value));
  }
  say_project(*project, command);
}

}  // namespace loaderscope
