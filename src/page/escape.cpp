#include "page/escape.h"

#include "base/printable.h"

namespace loaderscope {

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

std::string in_script(std::string_view json) {
  std::string result;
  for (const char c : json) {
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  }
  return result;
}

}  // namespace loaderscope
