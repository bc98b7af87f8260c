#include "base/terminal_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace loaderscope {

// As many blanks as a row has end in the row below where something stands in this one, and at the
// end of this one where nothing does.
std::string line_start(int descriptor) {
  if (::isatty(descriptor) != 1) return "";
  winsize size{};
  const bool is_known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return is_known ? std::string(size.ws_col, ' ') + "\r\033[K" : "\n";
}

}  // namespace loaderscope
