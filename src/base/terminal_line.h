// Lines of ours where a program prints too.
#pragma once

#include <string>

namespace loaderscope {

// What begins one. On a terminal the program may have printed a part of a line, or draw a bar:
// neither is written over. Elsewhere "".
std::string line_start(int descriptor);

}  // namespace loaderscope
