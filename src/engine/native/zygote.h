// A process that forks the workers: forked itself before the first thread and before a device is
// touched, it has no threads and no locks that a fork could break. It ignores SIGINT, SIGTERM
// and SIGHUP, as its workers do, and is killed with the process that made it, as they are killed
// with it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "engine/native/process_table.h"
#include "engine/native/worker_group.h"

namespace loaderscope::native {

class Zygote {
 public:
  struct Order {
    std::size_t process;
    Start start;
  };
  struct Bodies {
    std::function<void(Order&)> before_fork;   // runs in the zygote
    std::function<void(const Order&)> worker;  // in the worker's process, which ends with it
  };

  // Forks. Everything is to outlive it.
  Zygote(ProcessTable& table, const std::atomic<int>& stop, const Bodies& bodies);
  ~Zygote();  // kills what is left, and waits for its end
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  // Callable from any thread. The process must be `ordered`.
  void order(const Order& order);
  void end();  // kills what is left, and does not wait for it
  // The sentence about a zygote that has ended by itself.
  std::optional<std::string> death();

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
  std::optional<int> status_;
};

}  // namespace loaderscope::native
