// Settings of a job, joined from those of its hosts.
#pragma once

#include <string_view>

#include "loaderscope/run_record.h"
#include "loaderscope/settings.h"

namespace loaderscope {

// Adapts the settings of `job` to one more host, `part`. Throws RunError that names the first
// different setting, and changes nothing then. Values that were not given and follow from a host's
// machine may differ; the notes of `job` list them. Settings that each host has for itself, such as
// the command with its rank, are ignored.
void join_settings(RunRecord& job, const RunRecord& part, std::string_view name);

// Returns true if each host of a job has its own value, or if the setting is about the answer only.
bool is_of_each_host(const Field& field);

}  // namespace loaderscope
