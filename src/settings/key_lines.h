// Files of "key = rest of line", one a line, with comments on lines of their own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace loaderscope {

struct KeyLine {
  std::string place;  // "x.conf:3"
  std::string_view key, value;
};

// Throws UsageError that names the line. What it gives lives as long as `text`. Comments come
// without their #.
std::vector<KeyLine> key_lines(std::string_view text, const std::string& path,
                               const std::function<void(std::string_view)>& take_comment);

// The text of such a file. Throws UsageError: not there, no file, too large.
std::string read_key_file(const std::string& path);

}  // namespace loaderscope
