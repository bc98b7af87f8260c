// Ends a process of a job if its measuring thread does not return from the kernel. A thread that
// waits for a silent storage can neither be asked to end nor be interrupted.
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
    std::function<std::string()> failure;  // reason of the job's early end; "" without one
    std::function<void(const std::string& why)> give_up;
    Nanos timeout = 0;  // limit without a running thread; 0: none
  };
  // Watches the calling thread, and all threads that start later.
  ExitWatchdog(Job job, const std::atomic<int>& stop_signal);
  ~ExitWatchdog();  // the watched thread has returned
  ExitWatchdog(const ExitWatchdog&) = delete;
  ExitWatchdog& operator=(const ExitWatchdog&) = delete;

 private:
  void watch();
  std::int64_t turns() const;
  void end(const std::string& why) const;

  Job job_;
  const std::atomic<int>& stop_signal_;
  pid_t watched_;
  std::set<pid_t> others_;  // threads that existed before
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

// Closes the output at the exit if the kernel still holds a thread. Such a thread keeps the process
// and its open files, so a reader of the output would wait for more. Prints the reason before it
// closes.
void close_output_where_threads_are_held();

}  // namespace loaderscope
