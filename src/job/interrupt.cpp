#include "job/interrupt.h"

#include <csignal>

#include "machine/child_process.h"

namespace loaderscope {
namespace {

std::atomic<int> caught_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

using Handler = void (*)(int, siginfo_t*, void*);

// A SIGHUP that nohup ignores stays ignored. With null the signal kills.
void set_handler(int signal, Handler handler) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  if (signal == SIGHUP && action.sa_handler == SIG_IGN) return;
  action.sa_flags = SA_RESTART;
  if (handler != nullptr) {
    action.sa_sigaction = handler;
    action.sa_flags |= SA_SIGINFO;
  } else {
    action.sa_handler = SIG_DFL;
  }
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void set_handlers(Handler handler) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) set_handler(signal, handler);
}

extern "C" void on_stop_signal(int signal, siginfo_t* sender, void*) {
  note_sender(*sender);
  caught_signal.store(signal);
  set_handlers(nullptr);  // the next one kills
}

}  // namespace

const std::atomic<int>& catch_stop_signals() {
  set_handlers(on_stop_signal);
  return caught_signal;
}

int take_stop_signal() {
  const int signal = caught_signal.exchange(0);
  if (signal != 0) set_handlers(on_stop_signal);
  return signal;
}

ExitCode exit_code_of_signal(int signal) {
  if (signal == SIGHUP) return ExitCode::hung_up;
  return signal == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
}

ExitCode exit_code_of_failure() {
  const int signal = caught_signal.load();
  return signal != 0 ? exit_code_of_signal(signal) : ExitCode::failed;
}

}  // namespace loaderscope
