// Data that is streamed: what a run of it cannot have, and what is said of it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/pipeline/plan.h"
#include "loaderscope/engine.h"
#include "loaderscope/run_record.h"
#include "loaderscope/source.h"

namespace loaderscope::native {

// Throws UsageError, or RunError where the data has too few shards, or a stage is knocked out.
void check_streamed(const RunConfig& config, const Streams& streams, const Knockouts& knockouts);

// The samples are those of each rank in its first epoch; 0: that has not ended.
void add_streamed_facts(const Plan& plan, const Streams& streams,
                        const std::vector<std::int64_t>& samples, RunRecord& record);

}  // namespace loaderscope::native
