// How often the main threads of the job's processes wait for the lock of Python's interpreter:
// looked at from outside, as a share of the looks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope::guest {

// Where a process keeps the state of its interpreter, which holds the lock.
struct InterpreterState {
  std::uint64_t address = 0, size = 0;  // 0: not known
};

// Does the text of /proc/PID/syscall say that the thread sleeps on something in there?
bool waits_in(std::string_view syscall, const InterpreterState& state);

class LockWatch {
 public:
  void know(pid_t process, const InterpreterState& state);
  void look(pid_t process, bool is_worker);
  bool waits_now(pid_t process) const;  // its main thread, for the lock

  std::vector<Metric> metrics() const;
  std::string unknown() const;  // why nothing is known; "" where it is

 private:
  struct Looks {
    std::int64_t all = 0, waiting = 0;
  };

  std::map<pid_t, InterpreterState> states_;
  Looks workers_, trainers_;
  bool refused_ = false;
};

}  // namespace loaderscope::guest
