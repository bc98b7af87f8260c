// Whether a run fits into the memory of the host.
#pragma once

#include <optional>

#include "engine/pipeline/plan.h"

namespace loaderscope::native {

// Host memory that the batches of all ranks take: their slots, and the place that a simulated
// device copies pageable memory to; and what each worker may read ahead.
Bytes memory_needed(const Plan& plan, Bytes read_ahead = 0);

// Throws RunError when it is more than `free`; nothing is known of a machine that does not tell.
void check_fit(const Plan& plan, std::optional<Bytes> free, Bytes read_ahead = 0);

}  // namespace loaderscope::native
