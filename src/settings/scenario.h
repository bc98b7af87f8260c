// Combination of scenario files and flags.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loaderscope/settings.h"

namespace loaderscope {

// --- Precedence of two places that give settings.

// Returns true if `flags` override `field` = `value` of a scenario or of a base case: they give the
// same field, or a field that contradicts it.
bool flag_wins(const RunConfig& flags, const Field& field, std::string_view value);

// --- Keys of a scenario that are flags of one command and no settings of a run.

struct OtherKeys {
  std::vector<std::string_view> names;                     // keys that the command has
  std::vector<std::pair<std::string, std::string>> found;  // key and value, as written in the file
};

// Reads a scenario as read_scenario() does without `others`. Keys of the command are returned
// instead of refused.
Scenario read_scenario(const std::string& path, RunConfig& config, OtherKeys& others);

}  // namespace loaderscope
