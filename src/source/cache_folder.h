// Where this user's files that can be made again are kept.
#pragma once

#include <string>

namespace loaderscope::source {

// Of $XDG_CACHE_HOME, else of the home folder; "" when there is neither. It need not exist.
std::string user_cache_folder();

}  // namespace loaderscope::source
