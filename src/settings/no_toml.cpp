// A build without TOML says so if a project has settings for loaderscope.
#include "loaderscope/errors.h"
#include "settings/project.h"

namespace loaderscope {

std::optional<std::vector<ProjectLine>> parse_project(std::string_view text,
                                                      const std::string& path, bool is_pyproject) {
  if (is_pyproject && text.find("tool.loaderscope") == text.npos) return std::nullopt;
  throw UsageError(path + ": this loaderscope was built without TOML (libtomlplusplus-dev)",
                   "give --no-project");
}

}  // namespace loaderscope
