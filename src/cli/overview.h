// Texts that a newcomer reads first.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace loaderscope {

extern const std::string_view kOverview;  // output of `loaderscope` without arguments

// Returns the flags that a user of `command` needs most, in at most 80 lines and columns. `run
// --help` has the flags of the measured configuration.
std::string short_help(const CLI::App& command);

}  // namespace loaderscope
