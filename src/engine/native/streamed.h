// Data that is streamed: how many shards a run of it needs, and what is said of it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/pipeline/loader_plan.h"
#include "loaderscope/run_record.h"
#include "loaderscope/source.h"

namespace loaderscope::native {

// Throws RunError where there are fewer than ranks.
void check_shards(const RunConfig& config, const StreamSource& streams);

// The samples are those of each rank in its first epoch; 0: that has not ended.
void add_streamed_facts(const LoaderPlan& plan, const StreamSource& streams,
                        const std::vector<std::int64_t>& samples, RunRecord& record);

}  // namespace loaderscope::native
