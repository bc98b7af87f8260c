#include "settings/requirement.h"

#include <algorithm>

#include "base/printable.h"
#include "loaderscope/errors.h"

namespace loaderscope {

Requirement parse_requirement(std::string_view text) {
  constexpr const char* kExpected =
      "expected PATH OP VALUE such as 'device.busy >= 0.85' (OP: >= <= > < == !=)";
  const auto begin = text.find_first_of("<>=!");
  if (begin == text.npos) throw ValueError(kExpected);
  const auto end = std::min(text.find_first_not_of("<>=!", begin), text.size());
  Requirement requirement{std::string(trimmed(text.substr(0, begin))),
                          std::string(text.substr(begin, end - begin)),
                          std::string(trimmed(text.substr(end)))};
  if (requirement.path.empty() || requirement.value.empty()) throw ValueError(kExpected);
  const auto& op = requirement.comparison;
  const bool orders = op == ">=" || op == "<=" || op == ">" || op == "<";
  if (!orders && op != "==" && op != "!=") throw ValueError(kExpected);
  return requirement;
}

}  // namespace loaderscope
