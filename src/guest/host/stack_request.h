// Requests for the Python stacks of those processes of the job that have offered to write them.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/fd.h"
#include "guest/host/message_contents.h"
#include "hang/python_stack.h"
#include "loaderscope/units.h"

namespace loaderscope::guest {

class StackRequest {
 public:
  // Sends the signal only to a process that still handles it as offered, and still has its file
  // open. Another process would end, or would write into a file of the program.
  void ask(pid_t process, const StacksMessage& offer);
  // Timeout for answers. Processes answer at once unless they cannot.
  static constexpr Nanos kAnswerTimeout = kSecond / 4;
  // Returns the stacks written since ask(), or nothing if the process has not answered.
  std::vector<hang::PythonThread> answer_of(pid_t process) const;

 private:
  struct Asked {
    Fd memory;
    long before = 0;  // bytes written before the request
  };

  std::map<pid_t, Asked> asked_;
};

// Returns true if `process` handles the signal. The signal would end the process otherwise.
bool takes_signal(pid_t process, int signal);

}  // namespace loaderscope::guest
