#include "guest/host/second_signal.h"

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
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

SecondSignal::~SecondSignal() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

bool SecondSignal::came() const { return signal_came != 0; }

}  // namespace loaderscope::guest
