#include "base/utf8.h"

#include <cstddef>

namespace loaderscope {
namespace {

bool is_continuation(unsigned char byte) { return (byte & 0xc0) == 0x80; }

// Returns the bytes of the first letter of `text`, or 0 if no letter of UTF-8 begins there.
std::size_t letter_size(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
  };
  if (at(0) < 0x80) return 1;
  if (at(0) >= 0xc2 && at(0) < 0xe0 && is_continuation(at(1))) return 2;
  const bool is_surrogate = at(0) == 0xed && at(1) >= 0xa0;
  const bool is_overlong = (at(0) == 0xe0 && at(1) < 0xa0) || (at(0) == 0xf0 && at(1) < 0x90);
  if (is_surrogate || is_overlong || !is_continuation(at(1)) || !is_continuation(at(2))) return 0;
  if (at(0) >= 0xe0 && at(0) < 0xf0) return 3;
  return at(0) >= 0xf0 && at(0) < 0xf4 && is_continuation(at(3)) ? 4 : 0;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = letter_size(text.substr(i));
    if (size == 0)
      result += "\xef\xbf\xbd";  // U+FFFD
    else
      result += text.substr(i, size);
    i += size == 0 ? 1 : size;
  }
  return result;
}

}  // namespace loaderscope
