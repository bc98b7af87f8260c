// Progress on standard error: a few lines rewritten on a terminal, else a line every ten seconds;
// also on a terminal that a measured program prints to.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "record/running_account.h"

namespace loaderscope {

// Progress of a task.
struct ProgressState {
  std::int64_t done = 0;
  double fraction = 0;   // completed part; 0 if unknown
  double at_s = 0;       // time of this state, in s of one clock
  double done_s = 0;     // time of the last change of `done`, on the same clock
  bool may_end = false;  // the task may end early
};

// Returns "42 %, 1260 steps, 315 steps/s, 5.5 s left". The rate is for the time from `since` until
// the last change, the time left is for `now`. A task that may end early has "at most 5.5 s left".
// Without a known fraction, the line is "1260 files, 315 files/s". Within the first second, the
// line has only the number. With nothing done, the line is "no steps yet".
std::string progress_line(const std::string& what, const ProgressState& since,
                          const ProgressState& now);

// Returns the text that replaces `before` drawn lines by `lines`. It expects the cursor at the end
// of the last line. Each line is cut to `width` columns.
std::string redrawn(std::size_t before, const std::vector<std::string>& lines, std::size_t width);

class ProgressPrinter {
 public:
  enum class Terminal : std::uint8_t { own, shared };  // `shared`: a program also prints
  // `what` is counted: "steps".
  explicit ProgressPrinter(std::string what, Terminal terminal = Terminal::own);
  ~ProgressPrinter();  // clears the line
  ProgressPrinter(const ProgressPrinter&) = delete;
  ProgressPrinter& operator=(const ProgressPrinter&) = delete;

  static void format_none();  // disables progress lines for the whole process
  static bool shows();

  // Lines below the progress line, for a terminal of `width` columns.
  using Below = std::function<std::vector<std::string>(std::size_t width)>;
  // Shows the progress. Only one thread at a time may call it. `fraction` 0 means unknown.
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

// Returns the lines below the progress line, at most `width` columns each. They show how busy the
// device is, with a bar, the mean number of queued batches, and the causes of the wait, the longest
// first. Empty before the first measured step.
std::vector<std::string> live_lines(const RunningAccount& account, std::size_t width);

}  // namespace loaderscope
