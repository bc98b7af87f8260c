#include "source/cache_folder.h"

#include <cstdlib>

#include "source/walk.h"

namespace loaderscope::source {

std::string user_cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return join_path(cache, "loaderscope");
  const char* home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? join_path(home, ".cache/loaderscope") : "";
}

}  // namespace loaderscope::source
