// Programs that a result file names. The file may be from another person.
#pragma once

#include <string>

#include "loaderscope/run_config.h"

namespace loaderscope {

// Prints the program that `config` of the file `result` would run. On a terminal it asks first,
// unless the result is this user's last one. Does nothing if `config` runs no program. Throws
// RunError if the user declines, or if the saved command lacks a password that it had.
void announce_saved_command(const std::string& result, const RunConfig& config);

}  // namespace loaderscope
