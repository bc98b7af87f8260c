// Some hosts of a job, as a job of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

// `hosts`: of the job, in their order. What they waited for other ranks stays in their account, and
// exemplars are left out.
RunRecord part_on_hosts(const RunRecord& job, const std::vector<std::size_t>& hosts);

// Throws UsageError, in the name of `place`, for a run that lost processes of its job: how long the
// others waited for them is in their steps, and not known.
void require_complete_job(const RunRecord& record, const std::string& place);

// Injections name ranks of the job. `ranks`: which it had before, in the order that they have now;
// those on other ranks go.
void renumber_injections(RunConfig& config, const std::vector<std::int64_t>& ranks);

}  // namespace loaderscope
