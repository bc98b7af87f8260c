// Text of a change, and the setting that it changes.
#pragma once

#include <string>
#include <string_view>

#include "loaderscope/settings.h"

namespace loaderscope {

// Returns "--set workers=8", the begin of a message.
std::string place_of(const Change& change);

// Returns true if one of the changes is of the setting `name`, under any of its keys.
bool change_setting(const Changes& changes, std::string_view name);

}  // namespace loaderscope
