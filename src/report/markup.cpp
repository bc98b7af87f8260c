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

std::string in_xml(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace loaderscope
