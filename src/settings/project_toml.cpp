// Reads the settings of a project from TOML.
#include <fmt/format.h>

#include <toml++/toml.h>

#include "base/printable.h"
#include "loaderscope/errors.h"
#include "settings/project.h"

namespace loaderscope {
namespace {

constexpr std::string_view kTool = "tool", kOurs = "loaderscope";

class TomlSettings {
 public:
  TomlSettings(const std::string& path, std::vector<ProjectLine>& lines)
      : path_(path), lines_(lines) {}

  // Adds all keys of the table. A table within it has the keys of one command.
  void add_table(const toml::table& table, const std::string& command) {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      const std::string place = find_place(key.source());
      if (const toml::table* inner = node.as_table(); inner != nullptr && command.empty())
        add_table(*inner, name);
      else if (const toml::array* list = node.as_array())
        for (const toml::node& one : *list) add_value(one, {place, command, name, "", true});
      else
        add_value(node, {place, command, name, "", false});
    }
  }

 private:
  std::string find_place(const toml::source_region& source) const {
    return fmt::format("{}:{}", path_, source.begin.line);
  }

  void add_value(const toml::node& node, ProjectLine line) {
    if (const auto* text = node.as_string())
      line.value = text->get();
    else if (const auto* whole = node.as_integer())
      line.value = fmt::format("{}", whole->get());
    else if (const auto* real = node.as_floating_point())
      line.value = fmt::format("{}", real->get());
    else if (const auto* flag = node.as_boolean())
      line.value = flag->get() ? "true" : "false";
    else
      throw UsageError(
          fmt::format("{}: {} is no text, number, true or false", line.place, shown_text(line.key)),
          "write the value as the flag has it, in quotes");
    if (line.value.find('\0') != line.value.npos)
      throw UsageError(fmt::format("{}: {} has a zero byte", line.place, shown_text(line.key)),
                       "remove it");
    lines_.push_back(std::move(line));
  }

  const std::string& path_;
  std::vector<ProjectLine>& lines_;
};

// Returns the table with our settings; null if a pyproject has none.
const toml::table* our_table(const toml::table& file, bool is_pyproject) {
  return is_pyproject ? file[kTool][kOurs].as_table() : &file;
}

}  // namespace

std::optional<std::vector<ProjectLine>> parse_project(std::string_view text,
                                                      const std::string& path, bool is_pyproject) {
  toml::table file;
  try {
    file = toml::parse(text);
  } catch (const toml::parse_error& error) {
    // The file has other readers, which complain themselves.
    if (is_pyproject && text.find(kOurs) == text.npos) return std::nullopt;
    throw UsageError(fmt::format("{}:{}: no TOML: {}", path, error.source().begin.line,
                                 shown_text(std::string(error.description()))),
                     "correct the line, or give --no-project");
  }
  const toml::table* ours = our_table(file, is_pyproject);
  if (ours == nullptr) return std::nullopt;
  std::vector<ProjectLine> lines;
  TomlSettings(path, lines).add_table(*ours, "");
  return lines;
}

}  // namespace loaderscope
