// Flags of Python with which a program cannot be measured, as far as its command line shows them.
#pragma once

#include <string>
#include <vector>

namespace loaderscope::guest {

// Throws UsageError where the Python of `command` is told to leave out what measuring begins with.
void refuse_python_without_site(const std::vector<std::string>& command);

}  // namespace loaderscope::guest
