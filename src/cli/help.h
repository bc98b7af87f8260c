// Texts that a newcomer reads first.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace loaderscope {

extern const std::string_view kOverview;  // printed by `loaderscope` without words
extern const std::string_view kRunHelp;   // printed by `loaderscope run --help`

// The flags of `command` in at most 80 columns, with the first sentence of each. Leaves out the
// flags that it shares with `run`.
std::string short_help(const CLI::App& command);

}  // namespace loaderscope
