// The settings of a job, from those of its hosts.
#pragma once

#include <string_view>

#include "loaderscope/run_record.h"
#include "loaderscope/settings.h"

namespace loaderscope {

// Brings the settings of `job` in line with those of one more host, `part`. Throws RunError that
// names the first setting that is another one there, and changes nothing then. What was not given
// and follows from a host's machine may differ: it is said in the notes of `job`. What each host
// has of its own, such as the command with its rank, is not looked at.
void join_settings(RunRecord& job, const RunRecord& part, std::string_view name);

// Returns true if each host of a job has its own value, or if the setting is about the answer only.
bool is_of_each_host(const Field& field);

}  // namespace loaderscope
