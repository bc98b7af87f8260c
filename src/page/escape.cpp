#include "page/escape.h"

#include "base/printable.h"
#include "base/utf8.h"

namespace loaderscope {
std::string escape_xml(std::string_view text) {
  std::string result;
  // Paths may contain any bytes, and a reader of XML accepts only UTF-8.
  for (const char c : valid_utf8(printable(text))) {
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

std::string escape_script(std::string_view json) {
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
