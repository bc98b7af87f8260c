// Whether two records can be of one job, by their settings.
#pragma once

#include <string_view>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Throws RunError that names the first setting of `part` that is another one than in `job`. What
// was not given and follows from a host's machine may differ: it is said in the notes of `job`.
// What each host has of its own, such as the command with its rank, is not looked at.
void check_same_settings(RunRecord& job, const RunRecord& part, std::string_view name);

}  // namespace loaderscope
