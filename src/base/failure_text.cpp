#include "base/failure_text.h"

#include <sys/wait.h>

#include <cerrno>
#include <cstring>

namespace loaderscope {

std::string exhaustion_hint(int error) {
  switch (error) {
    case EMFILE:
      return "raise the limit of open files with ulimit -n, or use fewer --num-workers";
    case ENFILE:
      return "the whole machine has too many open files: end other programs, or raise sysctl "
             "fs.file-max";
    case EAGAIN:
      return "raise the limit of processes and threads with ulimit -u, or use fewer --num-workers";
    case ENOMEM:
      return "end other programs, raise the limit of memory with ulimit -v, or use fewer "
             "--num-workers";
    default:
      return "";
  }
}

std::string shortage_sentence(const std::system_error& error) {
  const std::error_category& category = error.code().category();
  if (category != std::generic_category() && category != std::system_category()) return "";
  const std::string remedy = exhaustion_hint(error.code().value());
  if (remedy.empty()) return "";
  return "the machine has too little left (" + error.code().message() + "); " + remedy;
}

std::string describe_exit(int status) {
  if (!WIFSIGNALED(status)) return "ended with exit code " + std::to_string(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  const char* name = ::sigabbrev_np(signal);
  return "was killed by signal " + std::to_string(signal) +
         (name != nullptr ? " (SIG" + std::string(name) + ")" : "");
}

}  // namespace loaderscope
