// Progress on standard error: one line rewritten on a terminal, else a line every ten seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace loaderscope {

// "42 %, 1260 steps, 315 steps/s, 5.5 s left"; with no fraction known "1260 files, 315 files/s";
// with nothing done "no steps yet".
std::string progress_line(std::int64_t done, const std::string& what, double fraction,
                          double elapsed_s);

class ProgressPrinter {
 public:
  explicit ProgressPrinter(std::string what);  // what is counted: "steps"
  ~ProgressPrinter();                          // clears the line
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  // From one thread at a time. `fraction` 0: not known.
  void show(std::int64_t done, double fraction);

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  bool on_terminal_;
  bool line_shown_ = false;
  Clock::time_point begin_, next_;
};

}  // namespace loaderscope
