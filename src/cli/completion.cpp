// loaderscope completion: what a shell asks while a command line is typed.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>

#include "cli/command.h"
#include "cli/output.h"
#include "loaderscope/rows.h"

namespace loaderscope {
namespace {

struct Shell {
  std::string_view name;
  std::string_view script;  // asks this program; where it knows no word, the shell offers files
};

constexpr std::array<Shell, 3> kShells = {{
    {"bash", R"sh(_loaderscope() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" completion words "${COMP_WORDS[*]:0:COMP_CWORD+1}" 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _loaderscope loaderscope
)sh"},
    {"zsh", R"sh(#compdef loaderscope
_loaderscope() {
  local -a known
  known=("${(@f)$("${words[1]}" completion words "${(F)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ -n ${known[1]} ]]; then compadd -a known; else _files; fi
}
compdef _loaderscope loaderscope
)sh"},
    {"fish", R"sh(function __loaderscope_words
  set -l line (commandline -opc) (commandline -ct)
  $line[1] completion words (string join \n -- $line | string collect) 2>/dev/null
end
complete -c loaderscope -a '(__loaderscope_words)'
)sh"},
}};

constexpr std::string_view kWords = "words";

using TypedWords = std::vector<std::string>;

// Of the command that has been typed so far: the words before the one that is being typed.
struct Typed {
  const CLI::App* app;
  std::string name;  // "data make"; "" of the program alone
  const Command* row = nullptr;
  std::string previous, current;
};

const Command* row_of(std::span<const Command> table, const std::string& name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Command& command) { return command.row.name == name; });
  return found == table.end() ? nullptr : &*found;
}

Typed read_typed(const CLI::App& root, const TypedWords& words) {
  Typed typed{&root, "", nullptr, "", words.empty() ? "" : words.back()};
  std::span<const Command> table = command_table();
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    typed.previous = words[i];
    const Command* row = row_of(table, words[i]);
    if (row == nullptr) continue;
    typed.app = typed.app->get_subcommand(words[i]);
    typed.name += (typed.name.empty() ? "" : " ") + words[i];
    typed.row = row;
    table = row->parts;
  }
  return typed;
}

const CLI::Option* option_named(const CLI::App& app, const std::string& flag) {
  return flag.starts_with("--") ? app.get_option_no_throw(flag) : nullptr;
}

// The rows whose names may stand behind the flag; behind the command where `flag` is "".
TypedWords values_of(const Typed& typed, const std::string& flag) {
  TypedWords values;
  for (const FamilyListing& listing : families()) {
    const bool is_own = listing.flag == typed.name + (flag.empty() ? "" : " " + flag);
    if (listing.flag.empty() || (!is_own && (flag.empty() || listing.flag != flag))) continue;
    for (const Row& row : listing.rows) values.emplace_back(row.name);
  }
  return values;
}

// Behind the program's name. One argument holds them all: it is no flag, whatever they are.
TypedWords words_in(const std::string& line) {
  TypedWords words;
  for (std::size_t end = line.find('\n'); end != line.npos;) {
    const std::size_t begin = end + 1;
    end = line.find('\n', begin);
    words.push_back(line.substr(begin, end == line.npos ? end : end - begin));
  }
  return words;
}

TypedWords next_words(const Typed& typed) {
  if (typed.current.starts_with('-')) {
    TypedWords flags;
    for (const CLI::Option* option : typed.app->get_options()) {
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    }
    return flags;
  }
  const CLI::Option* option = option_named(*typed.app, typed.previous);
  if (option != nullptr && option->get_items_expected_max() > 0)
    return values_of(typed, typed.previous);
  TypedWords words;
  for (const CLI::App* part : typed.app->get_subcommands({})) words.push_back(part->get_name());
  if (typed.row == nullptr) return words;
  if (typed.row->words != nullptr) return typed.row->words();
  for (std::string& value : values_of(typed, "")) words.push_back(std::move(value));
  return words;
}

ExitCode print_words(const CLI::App& root, const TypedWords& words) {
  const Typed typed = read_typed(root, words);
  StandardOutput out;
  for (const std::string& word : next_words(typed)) {
    if (word.starts_with(typed.current)) out.stream() << word << "\n";
  }
  return out.finish();
}

ExitCode print_script(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Shell& shell : kShells) {
    names.push_back(shell.name);
    if (shell.name != name) continue;
    StandardOutput out;
    out.stream() << shell.script;
    return out.finish();
  }
  throw UsageError("completion " + shown_text(name) + ": expected one of bash zsh fish" +
                   suggestion(name, names));
}

}  // namespace

Action declare_completion(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  const auto line = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish; or words, which those scripts ask.")
      ->required();
  app.add_option("LINE", *line,
                 "Behind words: what has been typed so far, the program's name first, a line each "
                 "word.");
  return [shell, line, root = app.get_parent()] {
    return *shell == kWords ? print_words(*root, words_in(*line)) : print_script(*shell);
  };
}

}  // namespace loaderscope
