#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "loaderscope/units.h"

namespace loaderscope {

std::string progress_line(std::int64_t done, const std::string& what, double fraction,
                          double elapsed_s) {
  if (done == 0 && fraction <= 0) return "no " + what + " yet";
  const double rate = elapsed_s > 0 ? static_cast<double>(done) / elapsed_s : 0;
  std::string line = fmt::format("{} {}, {:.4g} {}/s", done, what, rate, what);
  if (fraction <= 0) return line;
  fraction = std::min(fraction, 1.0);
  const double left_s = std::min(elapsed_s * (1 - fraction) / fraction, 1e9);
  return fmt::format("{:.0f} %, {}, {} left", 100 * fraction, line,
                     show_duration(static_cast<Nanos>(left_s * 1e9)));
}

ProgressPrinter::ProgressPrinter(std::string what)
    : what_(std::move(what)), on_terminal_(isatty(STDERR_FILENO) == 1), begin_(Clock::now()) {
  next_ = begin_ + (on_terminal_ ? std::chrono::milliseconds(500) : std::chrono::seconds(10));
}

ProgressPrinter::~ProgressPrinter() {
  if (line_shown_) std::fputs("\r\033[K", stderr);
}

void ProgressPrinter::show(std::int64_t done, double fraction) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  const double elapsed_s = std::chrono::duration<double>(now - begin_).count();
  const std::string line = progress_line(done, what_, fraction, elapsed_s);
  if (on_terminal_) {
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    line_shown_ = true;
    next_ = now + std::chrono::milliseconds(200);
  } else {
    std::fprintf(stderr, "loaderscope: %s\n", line.c_str());
    next_ = now + std::chrono::seconds(10);
  }
  std::fflush(stderr);
}

}  // namespace loaderscope
