// Whether the Python that is started as `python3` has what an engine needs; --python names another.
#pragma once

#include <optional>
#include <string>

namespace loaderscope {

std::optional<std::string> no_webdataset();
std::optional<std::string> no_dali();

}  // namespace loaderscope
