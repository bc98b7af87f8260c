#include "cli/interrupt.h"

#include <csignal>

namespace loaderscope {
namespace {

std::atomic<int> stop_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

void set_handler(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

extern "C" void on_stop_signal(int signal) {
  stop_signal.store(signal);
  set_handler(SIG_DFL);  // the next one kills
}

}  // namespace

const std::atomic<int>& catch_stop_signals() {
  set_handler(on_stop_signal);
  return stop_signal;
}

ExitCode exit_code_of_signal(int signal) {
  return signal == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
}

}  // namespace loaderscope
