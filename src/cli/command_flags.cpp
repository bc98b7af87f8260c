#include "cli/command_flags.h"

#include <CLI/CLI.hpp>

#include "cli/project_settings.h"
#include "loaderscope/errors.h"

namespace loaderscope {

void add_detail(CLI::App& app, DetailFlags& flags) {
  app.add_flag("-v,--verbose", flags.verbose, std::string(kVerbose.help));
  app.add_option("--summary", flags.summary, std::string(kSummary.help))
      ->type_name(std::string(kSummary.value_name))
      ->take_last();
}

CommandFlags::CommandFlags(CLI::App& app, std::span<const CommandFlag> flags) : app_(app) {
  for (const CommandFlag& flag : flags) {
    std::string names = "--" + std::string(flag.name);
    if (!flag.short_name.empty()) names = "-" + std::string(flag.short_name) + "," + names;
    const std::string help(flag.help);
    CLI::Option* option = nullptr;
    if (flag.value_name.empty()) {
      option = app.add_flag(names, help);
    } else {
      const CLI::callback_t keep = [](const CLI::results_t&) { return true; };
      option = app.add_option(names, keep, help);
      option->type_name(std::string(flag.value_name));
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
    flags_.push_back({&flag, option});
    scenario_.names.push_back(flag.name);
  }
}

RunConfig CommandFlags::read(const ConfigFlags& base, std::vector<ListedFlag>* listed,
                             bool is_of_result) {
  RunConfig config = base.config(scenario_, listed);
  if (is_of_result || is_on(kNoProjectFlag.name)) return config;
  std::vector<std::string_view> names;
  if (listed != nullptr)
    for (const ListedFlag& flag : *listed) names.push_back(flag.name);
  add_project(app_, names, config, scenario_);
  return config;
}

std::vector<std::string> CommandFlags::texts(std::string_view name) const {
  for (const Flag& flag : flags_) {
    if (flag.row->name == name && !flag.option->empty()) return flag.option->results();
  }
  std::vector<std::string> texts;
  for (const auto& [key, value] : scenario_.found) {
    if (key == name) texts.push_back(value);
  }
  return texts;
}

std::string CommandFlags::text(std::string_view name) const {
  const std::vector<std::string> all = texts(name);
  return all.empty() ? "" : all.back();
}

bool CommandFlags::is_on(std::string_view name) const { return count(name) > 0; }

int CommandFlags::count(std::string_view name) const {
  int count = 0;
  for (const std::string& value : texts(name)) {
    if (value != "true" && value != "false") refuse(name, "expected true or false");
    count = value == "true" ? count + 1 : 0;
  }
  return count;
}

void CommandFlags::refuse(std::string_view name, const std::string& reason,
                          const std::string& hint) const {
  throw UsageError("--" + std::string(name) + " " + shown_text(text(name)) + ": " + reason, hint);
}

}  // namespace loaderscope
