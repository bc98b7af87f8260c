// loaderscope completion: the scripts by which shells ask this program for words.
#include <CLI/CLI.hpp>

#include <array>
#include <memory>

#include "cli/command.h"
#include "cli/next_words.h"
#include "cli/output.h"

namespace loaderscope {
namespace {

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

// Behind the program's name. One argument holds them all: it is no flag, whatever they are.
std::vector<std::string> words_in(const std::string& line) {
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
  for (const std::string& word : words_after(root, words_in(line))) out.stream() << word << "\n";
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
  throw UsageError("completion " + shown_text(name) + ": expected one of bash zsh fish" +
                   suggestion(name, names));
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
  app.add_option("SHELL", *shell, "bash, zsh or fish; or words, which those scripts ask.")
      ->required();
  app.add_option("LINE", *line,
                 "Behind words: what has been typed so far, the program's name first, a line each "
                 "word.");
  return [shell, line, root = app.get_parent()] {
    return *shell == kWords ? print_words(*root, *line) : print_script(*shell);
  };
}

}  // namespace loaderscope
