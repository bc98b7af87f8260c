// How scenario files and flags come together.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaderscope/settings.h"

namespace loaderscope {

// --- Which of two places that give settings wins.

// Whether what `flags` give outdoes `field` = `value` of a scenario or of a base case: the same
// field, or one that contradicts it.
bool flag_wins(const RunConfig& flags, const Field& field, std::string_view value);

// --- Keys of a scenario that are flags of one command and no settings of a run.

struct OtherKeys {
  std::vector<std::string_view> names;                     // that the command has
  std::vector<std::pair<std::string, std::string>> found;  // key and value, as they stand there
};

// As read_scenario() without them; those that the command has are found instead of refused.
Scenario read_scenario(const std::string& path, RunConfig& config, OtherKeys& others);

}  // namespace loaderscope
