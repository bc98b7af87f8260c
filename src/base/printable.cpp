#include "base/printable.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace loaderscope {
namespace {

// The upper control characters (U+0080 to U+009F): a terminal takes them for escape sequences too.
bool starts_upper_control(std::string_view text) {
  if (text.size() < 2 || text[0] != '\xc2') return false;
  const auto second = static_cast<unsigned char>(text[1]);
  return second >= 0x80 && second < 0xa0;
}

// Marks that change the direction of the text around them (U+200E, U+200F, U+202A to U+202E, U+2066
// to U+2069). The reader would see another text than the bytes contain.
bool starts_direction_mark(std::string_view text) {
  if (text.size() < 3 || text[0] != '\xe2') return false;
  const auto second = static_cast<unsigned char>(text[1]);
  const auto third = static_cast<unsigned char>(text[2]);
  if (second == 0x81) return third >= 0xa6 && third <= 0xa9;
  return second == 0x80 && (third == 0x8e || third == 0x8f || (third >= 0xaa && third <= 0xae));
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
    } else if (starts_direction_mark(text.substr(i))) {
      escape(byte);
      escape(static_cast<unsigned char>(text[++i]));
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

// The blanks of one full row end in the next row if this row has text, and at the end of this row
// if it is empty.
std::string line_start(int descriptor) {
  if (::isatty(descriptor) != 1) return "";
  winsize size{};
  const bool is_known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return is_known ? std::string(size.ws_col, ' ') + "\r\033[K" : "\n";
}

}  // namespace loaderscope
