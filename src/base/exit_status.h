#pragma once

#include <string>

namespace loaderscope {

// Describes a status of waitpid(): "was killed by signal 9 (SIGKILL)", "ended with exit code 3".
std::string describe_exit(int status);

}  // namespace loaderscope
