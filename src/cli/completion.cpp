// loaderscope completion: the scripts by which shells ask this program for words.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/config_flags.h"
#include "cli/output.h"
#include "loaderscope/rows.h"
#include "loaderscope/settings.h"
#include "report/result_path.h"

namespace loaderscope {
namespace {

using TypedWords = std::vector<std::string>;

// The command that has been typed so far. The last word is still being typed.
struct Typed {
  const CLI::App* app;
  std::string name;  // "data make"; "" of the program alone
  const Command* row = nullptr;
  bool is_of_program = false;  // words of another program, after "--"
  std::string previous, current;
  std::string before;  // part of the typed word before its value: "--engine="
};

const Command* find_row_named(std::span<const Command> table, const std::string& name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Command& command) { return command.row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

// "--engine=mo", or bash's three words for it, is the flag and what is typed of its value.
void part_flag_and_value(Typed& typed, const TypedWords& words) {
  const std::size_t count = words.size();
  const std::size_t equals = typed.current.find('=');
  if (typed.current == "=") {
    typed.current.clear();
  } else if (typed.previous == "=" && count > 2) {
    typed.previous = words[count - 3];
  } else if (typed.current.starts_with("--") && equals != typed.current.npos) {
    typed.before = typed.current.substr(0, equals + 1);
    typed.previous = typed.current.substr(0, equals);
    typed.current.erase(0, equals + 1);
  }
}

Typed read_typed(const CLI::App& root, const TypedWords& words) {
  Typed typed{&root, "", nullptr, false, "", words.empty() ? "" : words.back(), ""};
  std::span<const Command> table = command_table();
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    typed.previous = words[i];
    typed.is_of_program |= words[i] == "--";
    const Command* row = find_row_named(table, words[i]);
    if (row == nullptr) continue;
    typed.app = typed.app->get_subcommand(words[i]);
    typed.name += (typed.name.empty() ? "" : " ") + words[i];
    typed.row = row;
    table = row->parts;
  }
  part_flag_and_value(typed, words);
  return typed;
}

const CLI::Option* option_named(const CLI::App& app, const std::string& flag) {
  return flag.starts_with('-') ? app.get_option_no_throw(flag) : nullptr;
}

// Returns the rows whose names may follow the flag, or the command if `flag` is "".
TypedWords rows_for(const Typed& typed, const std::string& flag) {
  TypedWords values;
  for (const FamilyListing& listing : families()) {
    const bool is_own = listing.flag == typed.name + (flag.empty() ? "" : " " + flag);
    if (listing.flag.empty() || (!is_own && (flag.empty() || listing.flag != flag))) continue;
    for (const Row& row : listing.rows) values.emplace_back(row.name);
  }
  return values;
}

// The name of a value's kind says how the value begins.
TypedWords values_for(const Typed& typed, const CLI::Option& option) {
  const std::string kind = option.get_type_name();
  TypedWords values;
  if (kind == "CONDITION") return paths_of_run();
  if (!kind.starts_with("KEY=")) return rows_for(typed, typed.previous);
  for (const Field& field : fields())
    if (!field.is_about(about::kSaved)) values.push_back(std::string(field.name) + "=");
  return values;
}

TypedWords next_words(const Typed& typed) {
  if (typed.is_of_program) return {};
  const CLI::Option* option = option_named(*typed.app, typed.previous);
  const bool takes_value = option != nullptr && option->get_items_expected_max() > 0;
  if (takes_value && (!typed.before.empty() || !typed.current.starts_with('-')))
    return values_for(typed, *option);
  if (typed.current.starts_with('-')) {
    TypedWords flags;
    for (const CLI::Option* flag : typed.app->get_options()) {
      if (flag->get_group() == kHidden) continue;
      for (const std::string& name : flag->get_lnames()) flags.push_back("--" + name);
    }
    return flags;
  }
  TypedWords words;
  for (const CLI::App* part : typed.app->get_subcommands({})) words.push_back(part->get_name());
  if (typed.row == nullptr) return words;
  if (typed.row->words != nullptr) return typed.row->words();
  for (std::string& value : rows_for(typed, "")) words.push_back(std::move(value));
  return words;
}

// Returns the words that may come next on a command line. `words` follow the program's name, and
// the shell has split them: "--engine=mo" may be three words. The last word is incomplete, and each
// returned word begins with it. If the result is empty, the shell completes names of files.
std::vector<std::string> complete_words(const CLI::App& root,
                                        const std::vector<std::string>& words) {
  const Typed typed = read_typed(root, words);
  TypedWords fitting;
  for (const std::string& word : next_words(typed))
    if (word.starts_with(typed.current)) fitting.push_back(typed.before + word);
  return fitting;
}

struct Shell {
  std::string_view name;
  std::string_view script;  // asks this program; where it knows no word, the shell offers files
};

constexpr std::array<Shell, 3> kShells = {{
    {"bash", R"sh(_loaderscope() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" completion words "${COMP_WORDS[*]:0:COMP_CWORD+1}" 2>/dev/null))
  if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _loaderscope loaderscope
)sh"},
    {"zsh", R"sh(#compdef loaderscope
_loaderscope() {
  local -a known
  known=("${(@f)$("${words[1]}" completion words "${(F)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ -z ${known[1]} ]]; then
    [[ ${words[CURRENT]} == --*=* ]] && compset -P '*='
    _files
  elif [[ ${known[1]} == *= ]]; then
    compadd -S '' -a known
  else
    compadd -a known
  fi
}
if [[ ${funcstack[1]} == _loaderscope ]]; then _loaderscope; else compdef _loaderscope loaderscope; fi
)sh"},
    {"fish", R"sh(function __loaderscope_words
  set -l line (commandline -opc) (commandline -ct)
  $line[1] completion words (string join \n -- $line | string collect) 2>/dev/null
end
complete -c loaderscope -a '(__loaderscope_words)'
)sh"},
}};

constexpr std::string_view kWords = "words";

// Returns the words after the program's name. One argument holds them all, so none is parsed as a
// flag.
std::vector<std::string> split_words(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t end = line.find('\n'); end != line.npos;) {
    const std::size_t begin = end + 1;
    end = line.find('\n', begin);
    words.push_back(line.substr(begin, end == line.npos ? end : end - begin));
  }
  return words;
}

ExitCode print_words(const CLI::App& root, const std::string& line) {
  StandardOutput out;
  for (const std::string& word : complete_words(root, split_words(line)))
    out.stream() << word << "\n";
  return out.finish();
}

ExitCode print_script(const std::string& name) {
  for (const Shell& shell : kShells) {
    if (shell.name != name) continue;
    StandardOutput out;
    out.stream() << shell.script;
    return out.finish();
  }
  const std::vector<std::string> known = shell_names();
  const std::vector<std::string_view> names(known.begin(), known.end());
  throw UsageError("completion " + shown_text(name) + ": expected one of bash zsh fish",
                   did_you_mean(name, names));
}

}  // namespace

std::vector<std::string> shell_names() {
  std::vector<std::string> names;
  for (const Shell& shell : kShells) names.emplace_back(shell.name);
  return names;
}

Action declare_completion(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  const auto line = std::make_shared<std::string>();
  app.add_option("SHELL", *shell,
                 "Print the script for bash, zsh or fish. words is for those scripts.")
      ->required();
  app.add_option(
      "LINE", *line,
      "Words typed so far, if SHELL is words. The program's name is first, one word per line.");
  return [shell, line, root = app.get_parent()] {
    return *shell == kWords ? print_words(*root, *line) : print_script(*shell);
  };
}

}  // namespace loaderscope
