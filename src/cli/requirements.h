// --require: what a result must fulfil.
#pragma once

#include <functional>
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

// Says on standard error what is not met or cannot be told, then writes the answer: the failure
// stands first. A condition that this run cannot answer is refused once the answer is written.
ExitCode judge_and_answer(const std::vector<std::string>& requirements, const RunRecord& record,
                          const Analysis& analysis, const std::function<void()>& write_answer);

}  // namespace loaderscope
