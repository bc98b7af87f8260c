// Ctrl-C, SIGTERM and a terminal that hangs up: the first asks the run to end with what it has, the
// second kills.
#pragma once

#include <atomic>

#include "loaderscope/errors.h"

namespace loaderscope {

// Installs the handlers; call once, before the run. The value is 0, then the number of the signal.
const std::atomic<int>& catch_stop_signals();

// The signal that came, or 0. What comes from now on is a first one again: a run that was ended is
// still analysed, and the next signal ends that.
int take_stop_signal();

// Returns the code of a run that `signal` stopped.
ExitCode exit_code_of_signal(int signal);

// Returns the code of failed work: interrupted if a signal came, else failed.
ExitCode exit_code_of_failure();

}  // namespace loaderscope
