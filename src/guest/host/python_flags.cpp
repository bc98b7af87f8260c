#include "guest/host/python_flags.h"

#include <algorithm>
#include <string_view>

#include "loaderscope/errors.h"

namespace loaderscope::guest {
namespace {

bool is_python(const std::string& word) {
  const std::string_view name = std::string_view(word).substr(word.rfind('/') + 1);
  return name.starts_with("python") &&
         name.find_first_not_of("0123456789.", std::string_view("python").size()) == name.npos;
}

bool is_script(const std::string& word) { return word.ends_with(".py"); }

// Returns the flag in a word of short flags, such as -uI, that keeps the guest out. 0 if none.
char keeps_us_out(std::string_view word) {
  for (const char flag : word.substr(1)) {
    if (flag == 'E' || flag == 'I' || flag == 'S') return flag;
    // The rest is the value of the flag, or the program and its arguments.
    if (flag == 'c' || flag == 'm' || flag == 'W' || flag == 'X') break;
  }
  return 0;
}

}  // namespace

void refuse_python_without_site(const std::vector<std::string>& command) {
  const auto scripts = std::find_if(command.begin(), command.end(), is_script);
  auto word = std::find_if(command.begin(), scripts, is_python);
  if (word == scripts) return;
  for (++word; word != command.end() && word->size() > 1 && word->front() == '-'; ++word) {
    if (word->starts_with("--")) continue;
    if (const char flag = keeps_us_out(*word); flag != 0) {
      throw UsageError(
          "python -" + std::string(1, flag) +
              ": leaves out the site module or PYTHONPATH, by which measuring begins in a program",
          "leave out -" + std::string(1, flag));
    }
    if (*word == "-c" || *word == "-m") return;
    if (*word == "-W" || *word == "-X") ++word;
    if (word == command.end()) return;
  }
}

}  // namespace loaderscope::guest
