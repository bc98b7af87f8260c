// Settings to run a run again for real with changes.
#pragma once

#include "loaderscope/settings.h"

namespace loaderscope {

// Returns the settings to run `in_force`, the settings of a run, again with changes on the same
// data and device. Throws UsageError if the changes contradict each other.
RunConfig rerun_config(const RunConfig& in_force, const Changes& changes);
// Returns the same before resolve(): the settings to give.
RunConfig rerun_settings(const RunConfig& in_force, const Changes& changes);

// Returns the machine's limits that the settings in force depend on.
MachineLimits limits_of(const RunConfig& in_force);

}  // namespace loaderscope
