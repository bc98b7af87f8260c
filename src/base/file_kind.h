// Kind of the file at a path that should be a regular file. A pipe might never begin, a device
// never end.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// Returns "a folder", "a pipe", "a device" or "a socket"; "" for a regular file or a missing path.
std::string_view non_file_kind(const std::string& path);

// Returns the readable part of a file. Files of /proc may end early, as their processes may end.
std::string readable_text(const std::string& path);

}  // namespace loaderscope
