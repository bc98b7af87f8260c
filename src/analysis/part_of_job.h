// Some hosts of a job, as a job of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

// `hosts`: of the job, in their order. What they waited for other ranks stays in their account, and
// exemplars are left out.
RunRecord part_on_hosts(const RunRecord& job, const std::vector<std::size_t>& hosts);

// Injections name ranks of the job. `ranks`: which it had before, in the order that they have now;
// those on other ranks go.
void renumber_injections(RunConfig& config, const std::vector<std::int64_t>& ranks);

}  // namespace loaderscope
