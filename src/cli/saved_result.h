// Saved results: the result of the last run, which is kept in the user's cache folder whether it
// was saved or not, and the programs that a result names.
#pragma once

#include <string>

#include "loaderscope/report.h"
#include "loaderscope/run_config.h"

namespace loaderscope {

// Keeps `result` of `record` as "last". A failure to write keeps the result before it, and fails no
// run. A result that is too large is not kept, and the result before it is removed. This prints a
// note, unless the result is also saved as JSON. Returns true if it was kept.
bool keep_last_result(const RunRecord& record, const AnyResult& result);

// Returns true if `given` means the result that is kept for this user.
bool is_own_last_result(const std::string& given);

// Returns the path of the saved result that a command was given. "last" is the result that
// loaderscope kept, unless a file here has that name. Throws RunError if no result was kept.
std::string place_of_result(const std::string& given);

// Reads a line of standard input, and returns true if it begins with "y". For a question that is
// printed before.
bool is_answered_with_yes();

// Prints the program that `config` of the file `result` would run. The file may be from another
// person, so on a terminal it asks first, unless the result is this user's last one. Does nothing
// if `config` runs no program. Throws RunError if the user declines, or if the saved command lacks
// a password that it had.
void announce_saved_command(const std::string& result, const RunConfig& config);

}  // namespace loaderscope
