// What a change says and of which setting it is.
#pragma once

#include <string>
#include <string_view>

#include "loaderscope/settings.h"

namespace loaderscope {

// "--set workers=8", to begin a message with.
std::string place_of(const Change& change);

// Whether one of them is of the setting that has this name, by whichever of its keys.
bool change_setting(const Changes& changes, std::string_view name);

}  // namespace loaderscope
