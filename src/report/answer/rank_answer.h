// The answer of a job in which one rank or host holds up the others.
#pragma once

#include <optional>

#include "loaderscope/analysis.h"
#include "report/answer/answer.h"

namespace loaderscope {

// Returns nothing if the ranks wait for each other less than 5 % of the window.
std::optional<Answer> answer_slow_rank(const RunRecord& record, const Analysis& analysis);

}  // namespace loaderscope
