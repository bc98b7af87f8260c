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

// Adds --require to commands without run settings.
void add_requirements(CLI::App& app, std::vector<std::string>& requirements);

// Throws UsageError for a requirement that cannot be read.
void check_requirements(const std::vector<std::string>& requirements);

// Prints on standard error the requirements that are not met or have no answer, then writes the
// answer. The failure comes first. Throws after the answer for a condition that this run cannot
// answer.
ExitCode judge_and_answer(const std::vector<std::string>& requirements, const RunRecord& record,
                          const Analysis& analysis, const std::function<void()>& write_answer);

}  // namespace loaderscope
