// Text of others, as it may be read and shown.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Control characters, and marks that turn the direction of text, as \xNN: none drives the terminal
// of who reads it or shows him something else.
std::string printable(std::string_view text);

// Without the blanks, tabs and carriage returns around it.
std::string_view trimmed(std::string_view text);

}  // namespace loaderscope
