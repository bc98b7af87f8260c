// The main cause of the wait that each finding counts.
#pragma once

#include <optional>
#include <vector>

#include "loaderscope/analysis.h"

namespace loaderscope {

// One for each of its findings: of the causes of stall that a finding counts as waiting, that which
// is waited for longest; nothing of a finding that is not about waiting.
std::vector<std::optional<Cause>> waited_causes(const RunRecord& record, const Analysis& analysis);

}  // namespace loaderscope
