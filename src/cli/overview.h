// Texts that a newcomer reads first.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace loaderscope {

extern const std::string_view kOverview;  // of `loaderscope` without words

// The flags that a user of `command` needs most, in at most 80 lines and columns. The flags of the
// configuration that is measured stand in `run --help`.
std::string short_help(const CLI::App& command);

}  // namespace loaderscope
