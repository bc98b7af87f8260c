// Progress on standard error: one line rewritten on a terminal, else a line every ten seconds.
#pragma once

#include <chrono>
#include <string>

#include "loaderscope/engine.h"

namespace loaderscope {

// "42 %, 1260 steps, 315/s, 5.5 s left"
std::string progress_line(const Progress& progress, double elapsed_s);

class ProgressPrinter {
 public:
  ProgressPrinter();
  ~ProgressPrinter();  // clears the line
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  void show(const Progress& progress);  // from one thread at a time

 private:
  using Clock = std::chrono::steady_clock;
  bool on_terminal_;
  bool line_shown_ = false;
  Clock::time_point begin_, next_;
};

}  // namespace loaderscope
