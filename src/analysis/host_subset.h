// Some hosts of a job, as a job of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Returns the part of the job on `hosts`, in their order. Their waits for other ranks stay in the
// account. Exemplars are left out.
RunRecord part_on_hosts(const RunRecord& job, const std::vector<std::size_t>& hosts);

// Throws UsageError, which begins with `place`, for a run that lost processes of its job. The waits
// of the others for them are unknown, but in their steps.
void require_complete_job(const RunRecord& record, const std::string& place);

// Renumbers the ranks in injections. `ranks`: the former numbers, in the present order. Injections
// on other ranks are dropped.
void renumber_injections(RunConfig& config, const std::vector<std::int64_t>& ranks);

}  // namespace loaderscope
