// Checks that the system allows the threads of a job.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/pipeline/loader_plan.h"
#include "machine/cgroup.h"

namespace loaderscope::native {

// Counts the threads of all ranks, including worker processes.
std::int64_t threads_needed(const LoaderPlan& plan);

// Throws RunError when they are more than may run.
void check_threads(const LoaderPlan& plan, const std::optional<ThreadLimit>& limit);

}  // namespace loaderscope::native
