// The engines that are somebody else's loader, in the user's own Python.
#pragma once

#include <string>
#include <vector>

#include "loaderscope/engine.h"

namespace loaderscope {

RunRecord run_guest(const RunConfig& config, const RunContext& context);

}  // namespace loaderscope

namespace loaderscope::guest {

// Flags of Python with which a program cannot be measured, as far as its command line shows them.
// Throws UsageError if `command` turns off the part of Python's startup that loads the guest.
void refuse_python_without_site(const std::vector<std::string>& command);

// Throws UsageError if the program cannot work in `folder`. "" is the current folder.
void refuse_missing_directory(const std::string& folder);

}  // namespace loaderscope::guest
