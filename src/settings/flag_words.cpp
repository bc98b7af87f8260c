#include "settings/flag_words.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace loaderscope {

std::vector<std::string> flag_words(const RunConfig& config) {
  constexpr std::array<std::string_view, 3> kAnswerFlags = {"require", "prove", "command"};
  std::vector<std::string> words;
  for (const Field& field : fields()) {
    const bool left_out =
        field.is_about(about::kSaved) ||
        std::find(kAnswerFlags.begin(), kAnswerFlags.end(), field.name) != kAnswerFlags.end();
    if (left_out || !field.given(config)) continue;
    for (const std::string& text : field.texts(config)) {
      const std::string no = field.is_switch() && text != "true" ? "no-" : "";
      words.push_back("--" + no + std::string(field.name));
      if (!field.is_switch()) words.push_back(text);
    }
  }
  return words;
}

std::string quoted(const std::string& word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
  std::string result = "'";
  for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace loaderscope
