// The result of the last run, which is kept in the user's cache folder whether it was saved or not.
#pragma once

#include <string>

#include "loaderscope/report.h"

namespace loaderscope {

// `result` of `record`. Where it cannot be kept the one before stays: a run never fails of it. What
// would be gigabytes is not kept, nor is what then was the last but one; unless it is saved
// elsewhere that is said. Returns whether it is kept.
bool keep_last_result(const RunRecord& record, const AnyResult& result);

// Returns true if `given` means the result that is kept for this user.
bool is_own_last_result(const std::string& given);

// Returns the path of the saved result that a command was given. "last" is the result that
// loaderscope kept, unless a file here has that name. Throws RunError if no result was kept.
std::string place_of_result(const std::string& given);

}  // namespace loaderscope
