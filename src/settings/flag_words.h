// A configuration as the words of a command line.
#pragma once

#include <string>
#include <vector>

#include "loaderscope/settings.h"

namespace loaderscope {

// Returns the given settings as flags. Leaves out the flags for the answer, and the program, which
// comes after all flags.
std::vector<std::string> flag_words(const RunConfig& config);

// Quotes a word so that a shell reads it back.
std::string quoted(const std::string& word);

}  // namespace loaderscope
