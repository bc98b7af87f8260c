// The main cause of the wait that each finding counts.
#pragma once

#include <optional>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

// Returns one cause for each finding: the longest stall among the causes that the finding counts.
// Empty for a finding that is not about waits.
std::vector<std::optional<Cause>> waited_causes(const RunRecord& record, const Analysis& analysis);

}  // namespace loaderscope
