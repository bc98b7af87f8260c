// Whether a run fits into the memory of the host.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/pipeline/loader_plan.h"

namespace loaderscope::native {

// Whether each worker hands its batches to a thread that sends them.
bool has_feeders(const LoaderPlan& plan);
// Threads of all ranks beside their trainers', and the trainers' where they make the batches; each
// has a log.
std::int64_t threads_with_log(const LoaderPlan& plan);
// Of the log of each thread: fewer where there are many threads, so that all of them together keep
// within what a record may take, as far as a log is long enough to be of use.
std::size_t log_entries(const LoaderPlan& plan);

// Host memory that the batches of all ranks take: their slots, and the place that a simulated
// device copies pageable memory to; and what each worker may read ahead. Here and below the largest
// number stands for all that is beyond it.
Bytes memory_needed(const LoaderPlan& plan, Bytes read_ahead = 0);
// What is kept of batches besides: the numbers of their samples, queues, and the threads' logs.
Bytes account_needed(const LoaderPlan& plan);

// Throws RunError when both are more than `free`; nothing is known of a machine that does not tell.
void check_fit(const LoaderPlan& plan, std::optional<Bytes> free, Bytes read_ahead = 0);
// Likewise of a run that writes no samples.
void check_account_fits(const LoaderPlan& plan, std::optional<Bytes> free);

}  // namespace loaderscope::native
