// Flags of Python with which a program cannot be measured, as far as its command line shows them.
#pragma once

#include <string>
#include <vector>

namespace loaderscope::guest {

// Throws UsageError if `command` turns off the part of Python's startup that loads the guest.
void refuse_python_without_site(const std::vector<std::string>& command);

}  // namespace loaderscope::guest
