// --require: what a result must fulfil.
#pragma once

#include <string>
#include <vector>

#include "loaderscope/report.h"

namespace CLI {
class App;
}

namespace loaderscope {

// Of commands that take no settings of a run.
void add_requirements(CLI::App& app, std::vector<std::string>& requirements);

// Throws UsageError for one that cannot be read.
void check_requirements(const std::vector<std::string>& requirements);

// Says on standard error what is not met or cannot be told, and returns ok, requirement_not_met or
// cannot_tell; a requirement that is not met outweighs one that cannot be told.
ExitCode judge_requirements(const std::vector<std::string>& requirements, const RunRecord& record,
                            const Analysis& analysis);

}  // namespace loaderscope
