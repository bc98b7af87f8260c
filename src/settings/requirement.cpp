#include "settings/requirement.h"

#include <algorithm>

#include "base/old_words.h"
#include "base/printable.h"
#include "loaderscope/errors.h"

namespace loaderscope {

std::string current_path(std::string_view path) {
  constexpr std::string_view kSettings = "config.";
  if (!path.starts_with(kSettings)) return std::string(current_word(WordKind::metric, path));
  std::string key(path.substr(kSettings.size()));
  std::replace(key.begin(), key.end(), '_', '-');
  const std::string_view name = current_word(WordKind::setting, key);
  if (name == key) return std::string(path);
  std::string now(name);
  std::replace(now.begin(), now.end(), '-', '_');
  return std::string(kSettings) + now;
}

Requirement parse_requirement(std::string_view text) {
  constexpr const char* kExpected =
      "expected PATH OP VALUE such as 'device.busy >= 0.85' (OP: >= <= > < == !=)";
  const auto begin = text.find_first_of("<>=!");
  if (begin == text.npos) throw ValueError(kExpected);
  const auto end = std::min(text.find_first_not_of("<>=!", begin), text.size());
  Requirement requirement{current_path(trimmed(text.substr(0, begin))),
                          std::string(text.substr(begin, end - begin)),
                          std::string(trimmed(text.substr(end)))};
  if (requirement.path.empty() || requirement.value.empty()) throw ValueError(kExpected);
  const auto& op = requirement.comparison;
  const bool orders = op == ">=" || op == "<=" || op == ">" || op == "<";
  if (!orders && op != "==" && op != "!=") throw ValueError(kExpected);
  if (requirement.path == "engine" || requirement.path == "config.engine")
    requirement.value = std::string(current_word(WordKind::engine, requirement.value));
  return requirement;
}

}  // namespace loaderscope
