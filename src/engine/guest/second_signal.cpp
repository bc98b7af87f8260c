#include "engine/guest/second_signal.h"

namespace loaderscope::guest {
namespace {

volatile std::sig_atomic_t signal_came = 0;

extern "C" void on_second_signal(int) { signal_came = 1; }

}  // namespace

SecondSignal::SecondSignal() {
  signal_came = 0;
  struct sigaction action {};
  action.sa_handler = on_second_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &interrupt_before_);
  sigaction(SIGTERM, &action, &terminate_before_);
}

SecondSignal::~SecondSignal() {
  sigaction(SIGINT, &interrupt_before_, nullptr);
  sigaction(SIGTERM, &terminate_before_, nullptr);
}

bool SecondSignal::came() const { return signal_came != 0; }

}  // namespace loaderscope::guest
