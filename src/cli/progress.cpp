#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "loaderscope/units.h"

namespace loaderscope {

std::string progress_line(const std::string& what, const HowFar& since, const HowFar& now) {
  constexpr double kTellsRate = 1;  // seconds
  if (now.done == 0 && now.fraction <= 0) return "no " + what + " yet";
  std::string line = fmt::format("{} {}", now.done, what);
  if (now.fraction > 0) line = fmt::format("{:.0f} %, {}", 100 * std::min(now.fraction, 1.0), line);
  const double elapsed_s = now.at_s - since.at_s;
  if (elapsed_s < kTellsRate) return line;
  line +=
      fmt::format(", {:.4g} {}/s", static_cast<double>(now.done - since.done) / elapsed_s, what);
  const double grown = now.fraction - since.fraction;
  if (grown <= 0) return line;
  const double left_s = std::min(elapsed_s * std::max(1 - now.fraction, 0.0) / grown, 1e9);
  return line + ", " + show_duration(static_cast<Nanos>(left_s * 1e9)) + " left";
}

namespace {

bool shows_any = true;

}  // namespace

void ProgressPrinter::show_none() { shows_any = false; }

bool ProgressPrinter::shows() { return shows_any; }

ProgressPrinter::ProgressPrinter(std::string what, Terminal terminal)
    : what_(std::move(what)),
      rewrites_(terminal == Terminal::own && isatty(STDERR_FILENO) == 1),
      begin_(Clock::now()) {
  next_ = begin_ + (rewrites_ ? std::chrono::milliseconds(500) : std::chrono::seconds(10));
}

ProgressPrinter::~ProgressPrinter() {
  if (line_shown_) std::fputs("\r\033[K", stderr);
}

void ProgressPrinter::show(std::int64_t done, double fraction) {
  const Clock::time_point now = Clock::now();
  const HowFar far = {done, fraction, std::chrono::duration<double>(now - begin_).count()};
  if (first_.done == 0 && first_.fraction <= 0) first_ = far;
  if (now < next_ || !shows_any) return;
  const std::string line = progress_line(what_, first_, far);
  if (rewrites_) {
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    line_shown_ = true;
    next_ = now + std::chrono::milliseconds(200);
  } else {
    const char* over = isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "";  // a bar of the program's
    std::fprintf(stderr, "%sloaderscope: %s\n", over, line.c_str());
    next_ = now + std::chrono::seconds(10);
  }
  std::fflush(stderr);
}

}  // namespace loaderscope
