// Folder for this user's files that can be made again.
#pragma once

#include <string>

namespace loaderscope::source {

// Returns a folder below $XDG_CACHE_HOME, or else below the home folder. "" without both. It need
// not exist.
std::string user_cache_folder();

}  // namespace loaderscope::source
