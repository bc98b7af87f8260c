// Progress on standard error: a few lines rewritten on a terminal, else a line every ten seconds;
// also on a terminal that a measured program prints to.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace loaderscope {

// How far something is.
struct ProgressState {
  std::int64_t done = 0;
  double fraction = 0;   // of the whole; 0: not known
  double at_s = 0;       // of a clock
  double done_s = 0;     // of that clock, when the last was done
  bool may_end = false;  // before it is whole
};

// "42 %, 1260 steps, 315 steps/s, 5.5 s left", the rate as it was from `since` until the last was
// done, the time left as it was until `now`; of what may end before, "at most 5.5 s left"; with no
// fraction known "1260 files, 315 files/s"; within the first second only how many; with nothing
// done "no steps yet".
std::string progress_line(const std::string& what, const ProgressState& since,
                          const ProgressState& now);

// What draws `lines` where `before` of them were drawn, with the cursor behind the last; each is
// cut to `width` columns. Nothing is left of what was there.
std::string redrawn(std::size_t before, const std::vector<std::string>& lines, std::size_t width);

class ProgressPrinter {
 public:
  enum class Terminal : std::uint8_t { own, shared };  // with a program
  // `what` is counted: "steps".
  explicit ProgressPrinter(std::string what, Terminal terminal = Terminal::own);
  ~ProgressPrinter();  // clears the line
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  static void format_none();  // from now on
  static bool shows();

  // What stands below the line on a terminal of so many columns, and behind it else.
  using Below = std::function<std::vector<std::string>(std::size_t width)>;
  // From one thread at a time. `fraction` 0: not known.
  void show(std::int64_t done, double fraction, const Below& below = nullptr);

 private:
  using Clock = std::chrono::steady_clock;
  void rewrite(const std::vector<std::string>& lines);
  std::string what_;
  bool rewrites_;
  std::size_t lines_shown_ = 0;
  Clock::time_point begin_, next_;
  ProgressState first_;  // when something was done: before, it took no time for it
  std::int64_t done_ = 0;
  double done_s_ = 0;
  bool may_end_;
};

}  // namespace loaderscope
