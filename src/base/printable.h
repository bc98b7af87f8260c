// Text of other programs in a form that is safe to print.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Replaces control characters and marks that change the direction of text by \xNN, so that the text
// cannot control the terminal or mislead its reader.
std::string printable(std::string_view text);

// Removes the blanks, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace loaderscope
