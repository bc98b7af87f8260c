#include "base/terminal_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace loaderscope {

// The blanks of one full row end in the next row if this row has text, and at the end of this row
// if it is empty.
std::string line_start(int descriptor) {
  if (::isatty(descriptor) != 1) return "";
  winsize size{};
  const bool is_known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return is_known ? std::string(size.ws_col, ' ') + "\r\033[K" : "\n";
}

}  // namespace loaderscope
