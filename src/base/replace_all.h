#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Returns the text with `old` replaced everywhere. Does not search the new parts again.
inline std::string replace_all(std::string text, std::string_view old, std::string_view with) {
  std::size_t at = 0;
  while ((at = text.find(old, at)) != text.npos) {
    text.replace(at, old.size(), with);
    at += with.size();
  }
  return text;
}

}  // namespace loaderscope
