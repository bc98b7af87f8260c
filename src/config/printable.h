// Text of others on its way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Control characters as \xNN, so that none drives the terminal of who reads it.
std::string printable(std::string_view text);

}  // namespace loaderscope
