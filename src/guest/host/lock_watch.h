// Share of samples in which the main threads of the job's processes wait for the lock of Python's
// interpreter, observed from outside.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/run_record.h"

namespace loaderscope::guest {

// Address range of the interpreter state of a process, which contains the lock.
struct InterpreterState {
  std::uint64_t address = 0, size = 0;  // 0: not known
};

// Returns true if the thread with this text of /proc/PID/syscall sleeps on an address in `state`.
bool is_lock_wait(std::string_view syscall, const InterpreterState& state);

class LockWatch {
 public:
  void know(pid_t process, const InterpreterState& state);
  void look(pid_t process, bool is_worker);
  bool waits_now(pid_t process) const;  // true: its main thread waits for the lock

  std::vector<Metric> metrics() const;
  std::string unknown() const;  // reason why nothing is known; "" otherwise

 private:
  struct Looks {
    std::int64_t all = 0, waiting = 0;
  };

  std::map<pid_t, InterpreterState> states_;
  Looks workers_, trainers_;
  bool refused_ = false;
};

}  // namespace loaderscope::guest
