// Text that is safe to print: of other programs, and next to their output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace loaderscope {

// Replaces control characters and marks that change the direction of text by \xNN, so that the text
// cannot control the terminal or mislead its reader.
std::string printable(std::string_view text);

// Removes the blanks, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text);

// Lines of loaderscope on a terminal that a program also prints to. Returns the text that begins
// such a line. On a terminal the program may have printed part of a line or draw a progress bar,
// which this text does not overwrite. Elsewhere returns "".
std::string line_start(int descriptor);

// A text cut at a character. Returns at least one part; parts may be empty.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace loaderscope
