// Ends a process of a job whose thread that measures does not come back from the kernel: whoever
// waits for a storage that has fallen silent can neither be asked to end nor be interrupted.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <thread>

#include "loaderscope/units.h"

namespace loaderscope {

class ExitWatchdog {
 public:
  struct Job {
    std::function<std::string()> failure;  // why it has ended; "": it has not
    std::function<void(const std::string& why)> give_up;
    Nanos timeout = 0;  // with threads that do not run; 0: for ever
  };
  // Watches the calling thread, and all that are started from now on.
  ExitWatchdog(Job job, const std::atomic<int>& stop_signal);
  ~ExitWatchdog();  // it has come back
  ExitWatchdog(const ExitWatchdog&) = delete;
  ExitWatchdog& operator=(const ExitWatchdog&) = delete;

 private:
  void watch();
  std::int64_t turns() const;
  void end(const std::string& why) const;

  Job job_;
  const std::atomic<int>& stop_signal_;
  pid_t watched_;
  std::set<pid_t> others_;  // that were there before
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

// A thread that the kernel does not let go keeps its process, and what this has open, also when it
// has ended: whoever reads our output would wait for more. At the exit this is said and closed.
void close_output_where_threads_are_held();

}  // namespace loaderscope
