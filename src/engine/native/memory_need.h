// Checks that a run fits into the memory of the host, and that the system allows its threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/pipeline/loader_plan.h"
#include "machine/cgroup.h"

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

// Checks that the system allows the threads of a job.

// Counts the threads of all ranks, including worker processes.
std::int64_t threads_needed(const LoaderPlan& plan);

// Throws RunError when they are more than may run.
void check_threads(const LoaderPlan& plan, const std::optional<ThreadLimit>& limit);

}  // namespace loaderscope::native
