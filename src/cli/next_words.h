// What may come next on a command line that is being typed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace loaderscope {

// `words`: those behind the program's name, the last one being typed; as a shell has them, which
// may part "--engine=mo" into three. Each that is given begins with what has been typed of it.
// None: what the shell knows, such as files.
std::vector<std::string> words_after(const CLI::App& root, const std::vector<std::string>& words);

}  // namespace loaderscope
