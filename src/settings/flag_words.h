// A configuration as the words of a command line.
#pragma once

#include <string>
#include <vector>

#include "loaderscope/settings.h"

namespace loaderscope {

// What was given, as flags, but for where the answer goes and what is asked of it, and for the
// program, which stands behind all flags.
std::vector<std::string> flag_words(const RunConfig& config);

// As a shell reads it back.
std::string quoted(const std::string& word);

}  // namespace loaderscope
