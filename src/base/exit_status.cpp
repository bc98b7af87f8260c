#include "base/exit_status.h"

#include <sys/wait.h>

#include <cstring>

namespace loaderscope {

std::string describe_exit(int status) {
  if (!WIFSIGNALED(status)) return "ended with exit code " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  const char* name = ::sigabbrev_np(signal);
  return "was killed by signal " + std::to_string(signal) +
         (name != nullptr ? " (SIG" + std::string(name) + ")" : "");
}

}  // namespace loaderscope
