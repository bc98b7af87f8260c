// Checks that a run fits into the memory of the host.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/pipeline/loader_plan.h"

namespace loaderscope::native {

// Returns true if each worker passes its batches to a thread that sends them.
bool has_feeders(const LoaderPlan& plan);
// Threads of all ranks that have a log. Trainers count only if they make the batches.
std::int64_t threads_with_log(const LoaderPlan& plan);
// Entries in the log of each thread. Many threads get shorter logs, so that all of them together
// stay within the limit of a record. A minimum keeps each log useful.
std::size_t log_entries(const LoaderPlan& plan);

// Host memory that the batches of all ranks take: their slots, and the place that a simulated
// device copies pageable memory to; and what each worker may read ahead. Here and below the largest
// number stands for all that is beyond it.
Bytes memory_needed(const LoaderPlan& plan, Bytes read_ahead = 0);
// Memory of batches besides their slots: the numbers of their samples, queues, and the threads'
// logs.
Bytes account_needed(const LoaderPlan& plan);

// Throws RunError when both exceed `free`. Checks nothing if `free` is unknown.
void check_fit(const LoaderPlan& plan, std::optional<Bytes> free, Bytes read_ahead = 0);
// Does the same for a run that writes no samples.
void check_account_fits(const LoaderPlan& plan, std::optional<Bytes> free);

}  // namespace loaderscope::native
