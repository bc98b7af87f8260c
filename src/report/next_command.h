// The command that a reader of the report would run next.
#pragma once

#include <string>

#include "loaderscope/analysis.h"

namespace loaderscope {

// The run of `record` again with the one change that its verdict suggests trying: a line for a
// shell.
// "" when there is nothing to try.
std::string next_command(const RunRecord& record, const Analysis& analysis);

}  // namespace loaderscope
