#include "cli/error_text.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/printable.h"

namespace loaderscope {
namespace {

constexpr std::string_view kHint = "\nhint: ";

// Verbs that begin advice in our messages.
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
  return "loaderscope: " + printable(std::string(sentence)) + std::string(kHint) +
         printable(std::string(advice)) + "\n";
}

}  // namespace

std::string error_text(const std::string& message) {
  const std::string_view text = message;
  if (const std::size_t at = text.find(kHint); at != text.npos)
    return two_lines(text.substr(0, at), text.substr(at + kHint.size()));
  const std::size_t at = text.rfind("; ");
  if (at != text.npos && is_advice(text.substr(at + 2)))
    return two_lines(text.substr(0, at), text.substr(at + 2));
  return "loaderscope: " + printable(message) + "\n";
}

}  // namespace loaderscope
