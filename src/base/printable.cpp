#include "base/printable.h"

namespace loaderscope {
namespace {

// The upper control characters (U+0080 to U+009F): a terminal takes them for escape sequences too.
bool starts_upper_control(std::string_view text) {
  if (text.size() < 2 || text[0] != '\xc2') return false;
  const auto second = static_cast<unsigned char>(text[1]);
  return second >= 0x80 && second < 0xa0;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr const char* kHex = "0123456789abcdef";
  std::string shown;
  const auto escape = [&](unsigned char byte) {
    shown += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) {
      escape(byte);
    } else if (starts_upper_control(text.substr(i))) {
      escape(byte);
      escape(static_cast<unsigned char>(text[++i]));
    } else {
      shown += text[i];
    }
  }
  return shown;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const auto begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

}  // namespace loaderscope
