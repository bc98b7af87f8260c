// Reads the settings of a project from TOML.
#include <algorithm>
#include <charconv>
#include <exception>

#include <fmt/format.h>

namespace {

// A wrong assumption of toml++: version 3.3 asserts that a key follows "[", and never looks.
struct WrongAssumption : std::exception {};

constexpr void check_assumption(bool holds) {
  if (!holds) throw WrongAssumption();
}

}  // namespace

// toml++ assumes without a check where NDEBUG is defined.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) check_assumption(static_cast<bool>(expression))
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include "base/printable.h"
#include "base/utf8.h"
#include "loaderscope/errors.h"
#include "settings/project.h"

namespace loaderscope {
namespace {

constexpr std::string_view kTool = "tool", kOurs = "loaderscope";

// toml++ looks letters outside of ASCII up in tables that have holes. It therefore reads "~C3~A9"
// for "\u00e9". TOML has such letters in texts and comments only, and a tilde as well.
constexpr char kCoded = '~';

std::string coded(std::string_view text) {
  std::string result;
  for (const char letter : text)
    if (letter == kCoded || static_cast<unsigned char>(letter) >= 0x80)
      result += fmt::format("{}{:02X}", kCoded, static_cast<unsigned char>(letter));
    else
      result += letter;
  return result;
}

std::string decoded(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned letter = 0;
    const char* digits = text.data() + at + 1;
    if (text[at] == kCoded && at + 2 < text.size() &&
        std::from_chars(digits, digits + 2, letter, 16).ptr == digits + 2) {
      result += static_cast<char>(letter);
      at += 2;
    } else {
      result += text[at];
    }
  }
  return result;
}

class TomlSettings {
 public:
  TomlSettings(const std::string& path, std::vector<ProjectLine>& lines)
      : path_(path), lines_(lines) {}

  // Adds all keys of the table. A table within it has the keys of one command.
  void add_table(const toml::table& table, const std::string& command) {
    for (const auto& [key, node] : table) {
      const std::string name = decoded(key.str());
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
      line.value = decoded(text->get());
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

bool has_wrong_assumption(std::string_view text) {
  try {
    static_cast<void>(toml::parse(text));
  } catch (const WrongAssumption&) {
    return true;
  } catch (const toml::parse_error&) {
  }
  return false;
}

// Returns the line, from 1, that toml++ assumed wrongly of. The parser reads forward: each
// beginning of the text that has this line fails in the same way, and no shorter one does.
std::size_t find_wrong_line(std::string_view text) {
  const std::vector<std::string_view> lines = split(text, '\n');
  std::size_t sound = 0, failing = lines.size();  // numbers of lines
  while (failing - sound > 1) {
    const std::size_t middle = (sound + failing) / 2;
    const std::string_view& last = lines[middle - 1];
    const auto length = static_cast<std::size_t>(last.data() + last.size() - text.data());
    (has_wrong_assumption(text.substr(0, length)) ? failing : sound) = middle;
  }
  return failing;
}

UsageError no_toml(const std::string& path, std::size_t line, std::string_view why) {
  return UsageError(fmt::format("{}:{}: no TOML: {}", path, line, shown_text(std::string(why))),
                    "correct the line, or give --no-project");
}

constexpr std::string_view kByteOrder = "\xef\xbb\xbf";

// Parses the text. Its texts and keys are coded. Throws UsageError.
toml::table parse_coded(std::string_view text, const std::string& path) {
  if (text.starts_with(kByteOrder)) text.remove_prefix(kByteOrder.size());
  const std::string utf8 = valid_utf8(text);
  const auto [wrong, replaced] = std::mismatch(text.begin(), text.end(), utf8.begin(), utf8.end());
  if (wrong != text.end())
    throw no_toml(path, 1 + static_cast<std::size_t>(std::count(text.begin(), wrong, '\n')),
                  "a letter is no UTF-8");
  const std::string ascii = coded(text);
  try {
    return toml::parse(ascii);
  } catch (const toml::parse_error& error) {
    throw no_toml(path, error.source().begin.line, decoded(error.description()));
  } catch (const WrongAssumption&) {
    throw no_toml(path, find_wrong_line(ascii), "this line cannot be read");
  }
}

// Returns the table with our settings; null if a pyproject has none.
const toml::table* our_table(const toml::table& file, bool is_pyproject) {
  return is_pyproject ? file[kTool][kOurs].as_table() : &file;
}

}  // namespace

std::optional<std::vector<ProjectLine>> parse_project(std::string_view text,
                                                      const std::string& path, bool is_pyproject) {
  // A pyproject without our name has other readers, which complain themselves.
  if (is_pyproject && text.find(kOurs) == text.npos) return std::nullopt;
  const toml::table file = parse_coded(text, path);
  const toml::table* ours = our_table(file, is_pyproject);
  if (ours == nullptr) return std::nullopt;
  std::vector<ProjectLine> lines;
  TomlSettings(path, lines).add_table(*ours, "");
  return lines;
}

}  // namespace loaderscope
