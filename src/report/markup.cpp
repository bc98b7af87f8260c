#include "report/markup.h"

#include "base/printable.h"

namespace loaderscope {

std::string in_markdown(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_[]<>|#~").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

}  // namespace loaderscope
