// Checks that `python3` has the modules of an engine; --python names another interpreter.
#pragma once

#include <optional>
#include <string>

namespace loaderscope {

std::optional<std::string> no_webdataset();
std::optional<std::string> no_dali();

}  // namespace loaderscope
