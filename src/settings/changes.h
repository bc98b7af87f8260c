// The setting that a change is about.
#pragma once

#include <string_view>

#include "loaderscope/run_config.h"

namespace loaderscope {

// Returns true if one of the changes is of the setting `name`, under any of its keys.
bool change_setting(const Changes& changes, std::string_view name);

}  // namespace loaderscope
