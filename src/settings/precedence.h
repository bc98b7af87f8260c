// Which of two places that give settings wins.
#pragma once

#include <string_view>

#include "loaderscope/settings.h"

namespace loaderscope {

// Whether what `flags` give outdoes `field` = `value` of a scenario or of a base case: the same
// field, or one that contradicts it.
bool flag_wins(const RunConfig& flags, const Field& field, std::string_view value);

}  // namespace loaderscope
