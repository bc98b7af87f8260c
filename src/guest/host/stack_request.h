// Asks processes of the job where they stand in Python: those that have offered to tell.
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
  // Nothing is sent to a process that does not take the signal as it has offered, or that has
  // closed what it would write to: it would end, or write into a file of its own.
  void ask(pid_t process, const StacksMessage& offer);
  // They write at once, unless they cannot.
  static constexpr Nanos kAnswerTimeout = kSecond / 4;
  // What it has written since; nothing where it has not answered.
  std::vector<hang::PythonThread> answer_of(pid_t process) const;

 private:
  struct Asked {
    Fd memory;
    long before = 0;  // bytes that it had written
  };

  std::map<pid_t, Asked> asked_;
};

// Does the `process` handle the signal, rather than end by it?
bool takes_signal(pid_t process, int signal);

}  // namespace loaderscope::guest
