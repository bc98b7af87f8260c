// A run, to be run again for real with other settings.
#pragma once

#include "loaderscope/settings.h"

namespace loaderscope {

// The settings for running `in_force`, those of a run, again for real with other settings: on the
// same data and device. Throws UsageError for changes that contradict each other.
RunConfig rerun_config(const RunConfig& in_force, const Changes& changes);
// The same, not yet resolved: what has to be given for it.
RunConfig rerun_settings(const RunConfig& in_force, const Changes& changes);

// Returns the machine's limits that the settings in force depend on.
MachineLimits limits_of(const RunConfig& in_force);

}  // namespace loaderscope
