// What stands at a path that should be a file to be read. A pipe might never begin, a device never
// end.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

// "a folder", "a pipe", "a device" or "a socket"; "" for a regular file and where nothing is.
std::string_view non_file_kind(const std::string& path);

// As much of a file as can be read: of /proc, whose processes may end meanwhile.
std::string readable_text(const std::string& path);

}  // namespace loaderscope
