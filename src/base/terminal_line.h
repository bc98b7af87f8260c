// Lines of loaderscope on a terminal that a program also prints to.
#pragma once

#include <string>

namespace loaderscope {

// Returns the text that begins such a line. On a terminal the program may have printed part of a
// line or draw a progress bar, which this text does not overwrite. Elsewhere returns "".
std::string line_start(int descriptor);

}  // namespace loaderscope
