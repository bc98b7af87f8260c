#include "cli/error_text.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/printable.h"

namespace loaderscope {
namespace {

// Verbs that begin advice in messages without a hint.
constexpr std::array<std::string_view, 38> kAdvice = {
    "add",    "ask",  "build", "call",    "check", "choose", "copy",   "create", "did",     "end",
    "export", "free", "give",  "install", "leave", "let",    "look",   "make",   "measure", "mount",
    "name",   "open", "pass",  "put",     "raise", "record", "remove", "rename", "run",     "save",
    "see",    "set",  "start", "take",    "try",   "unpack", "use",    "write"};

bool is_advice(std::string_view clause) {
  const std::string_view word = clause.substr(0, clause.find_first_of(" ,"));
  return std::find(kAdvice.begin(), kAdvice.end(), word) != kAdvice.end();
}

std::string two_lines(std::string_view sentence, std::string_view advice) {
  return "loaderscope: " + printable(std::string(sentence)) +
         "\nhint: " + printable(std::string(advice)) + "\n";
}

}  // namespace

std::string error_text(const std::string& message) {
  const std::string_view text = message;
  const std::size_t at = text.rfind("; ");
  if (at != text.npos && is_advice(text.substr(at + 2)))
    return two_lines(text.substr(0, at), text.substr(at + 2));
  return "loaderscope: " + printable(message) + "\n";
}

std::string error_text(const Error& error) {
  return error.hint().empty() ? error_text(std::string(error.sentence()))
                              : two_lines(error.sentence(), error.hint());
}

}  // namespace loaderscope
