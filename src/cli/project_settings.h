// The settings of a project (settings/project.h) for one command.
#pragma once

#include <string_view>
#include <vector>

#include "loaderscope/settings.h"
#include "settings/scenario.h"

namespace CLI {
class App;
}

namespace loaderscope {

// Adds to `config` and `others` what the project of the current folder sets for the command `app`,
// and prints the file on standard error. Flags and a scenario, which are in both already, win. So
// do `listed` flags, which name several values. Throws UsageError for an unknown key, a wrong value
// and a damaged file.
void add_project(const CLI::App& app, const std::vector<std::string_view>& listed,
                 RunConfig& config, OtherKeys& others);

}  // namespace loaderscope
