// Ctrl-C or SIGTERM for the second time, while the first one's clean end is under way: ends the
// program at once instead of us, so that nothing of it is left.
#pragma once

#include <csignal>

namespace loaderscope::guest {

// One at a time. The handlers that it finds are back when it is gone.
class SecondSignal {
 public:
  SecondSignal();
  ~SecondSignal();
  SecondSignal(const SecondSignal&) = delete;
  SecondSignal& operator=(const SecondSignal&) = delete;

  bool came() const;

 private:
  struct sigaction interrupt_before_ {
  }, terminate_before_{};
};

}  // namespace loaderscope::guest
