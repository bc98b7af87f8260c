#include "cli/help_layout.h"

#include <CLI/CLI.hpp>

#include <sstream>
#include <string>

namespace loaderscope {
namespace {

constexpr std::size_t kWidth = 100;

std::string wrapped(const std::string& text, std::size_t indent) {
  std::istringstream words(text);
  std::string result, line(indent, ' ');
  bool is_empty = true;
  for (std::string word; words >> word;) {
    if (!is_empty && line.size() + 1 + word.size() > kWidth) {
      result += line + "\n";
      line.assign(indent, ' ');
      is_empty = true;
    }
    if (!is_empty) line += ' ';
    line += word;
    is_empty = false;
  }
  return result + line + "\n";
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::string names = is_positional ? option->get_name(true) : all_names(*option);
    std::string value = option->get_type_name();
    if (!value.empty()) value.insert(0, 1, ' ');
    return "  " + names + (is_positional ? "" : value) + "\n" +
           wrapped(option->get_description(), 6);
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

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace loaderscope
