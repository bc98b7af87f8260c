// Ctrl-C, SIGTERM or SIGHUP for the second time, while the first one's clean end is under way: ends
// the program at once instead of us, so that nothing of it is left. One that is ignored stays so.
#pragma once

#include <array>
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
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace loaderscope::guest
