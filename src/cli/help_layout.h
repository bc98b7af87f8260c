// The layout of --help.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace loaderscope {

// Flags on one line, their sentence below it, wrapped.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace loaderscope
