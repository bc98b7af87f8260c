// The command that a reader of the report would run next.
#pragma once

#include <string>

#include "loaderscope/analysis.h"

namespace loaderscope {

// A line for a shell that tries `changes` on top of `config`: a run, or a what-if where only the
// model can change what is to change.
std::string command_for(const RunConfig& config, const Changes& changes);

// Returns the command that the user should run next. It tries the first finding, or is a tune if
// the run was saved and tune varies the setting. Without a verdict, it is a longer run. After a
// trial that helped, it has the setting. Returns "" if there is nothing to try.
std::string next_command(const RunRecord& record, const Analysis& analysis);

}  // namespace loaderscope
