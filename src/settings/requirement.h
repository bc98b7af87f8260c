// The words of --require: a path of the result JSON, a comparison, a number or word.
#pragma once

#include <string>
#include <string_view>

namespace loaderscope {

struct Requirement {
  std::string path, comparison, value;
};

// Returns the path in the present format of results. `path` may be of an earlier version.
std::string current_path(std::string_view path);

// Throws ValueError. The caller, which knows results, checks the path.
Requirement parse_requirement(std::string_view text);

}  // namespace loaderscope
