// The command that a reader of the report would run next.
#pragma once

#include <string>

#include "loaderscope/analysis.h"

namespace loaderscope {

// A line for a shell that tries `changes` on top of `config`: a run, or a what-if where only the
// model can change what is to change.
std::string command_for(const RunConfig& config, const Changes& changes);

// What its first finding suggests trying - a tune, where it is about what a tune varies and the run
// was saved - or a run that is long enough for a verdict; once it was tried and helps, that
// setting.
// "" when there is nothing to try.
std::string next_command(const RunRecord& record, const Analysis& analysis);

}  // namespace loaderscope
