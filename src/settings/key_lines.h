// Files of lines "key = value", with comments on lines of their own.
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

// Parses the lines. Throws UsageError that names the line. The returned views are valid as long as
// `text`. Comments are passed without their #.
std::vector<KeyLine> key_lines(std::string_view text, const std::string& path,
                               const std::function<void(std::string_view)>& take_comment);

// Returns the text of such a file. Throws UsageError if it is missing, no regular file, or too
// large.
std::string read_key_file(const std::string& path);

}  // namespace loaderscope
