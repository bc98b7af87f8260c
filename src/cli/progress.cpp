#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/printable.h"
#include "loaderscope/units.h"

namespace loaderscope {

std::string progress_line(const std::string& what, const ProgressState& since,
                          const ProgressState& now) {
  constexpr double kTellsRate = 1;  // seconds
  if (now.done == 0 && now.fraction <= 0) return "no " + what + " yet";
  std::string line = fmt::format("{} {}", now.done, what);
  if (now.fraction > 0) line = fmt::format("{:.0f} %, {}", 100 * std::min(now.fraction, 1.0), line);
  const double elapsed_s = now.at_s - since.at_s;
  if (elapsed_s < kTellsRate) return line;
  const double doing_s = now.done_s - since.at_s;
  if (doing_s >= kTellsRate)
    line +=
        fmt::format(", {:.4g} {}/s", static_cast<double>(now.done - since.done) / doing_s, what);
  const double grown = now.fraction - since.fraction;
  if (grown <= 0) return line;
  const double left_s = std::min(elapsed_s * std::max(1 - now.fraction, 0.0) / grown, 1e9);
  return line + (now.may_end ? ", at most " : ", ") +
         format_duration(static_cast<Nanos>(left_s * 1e9)) + " left";
}

std::string redrawn(std::size_t before, const std::vector<std::string>& lines, std::size_t width) {
  std::string text = "\r";
  if (before > 1) text += fmt::format("\033[{}A", before - 1);
  text += "\033[J";
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += (i == 0 ? "" : "\n") + lines[i].substr(0, width);
  return text;
}

namespace {

constexpr std::size_t kUnbroken = 1000;  // columns of a line for a log

// One less than the terminal has: a full line would be broken.
std::size_t terminal_width() {
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return is_known ? size.ws_col - 1U : 79;
}

bool shows_any = true;

}  // namespace

void ProgressPrinter::format_none() { shows_any = false; }

bool ProgressPrinter::shows() { return shows_any; }

ProgressPrinter::ProgressPrinter(std::string what, Terminal terminal)
    : what_(std::move(what)),
      rewrites_(terminal == Terminal::own && isatty(STDERR_FILENO) == 1),
      begin_(Clock::now()),
      may_end_(terminal == Terminal::shared) {
  next_ = begin_ + (rewrites_ ? std::chrono::milliseconds(500) : std::chrono::seconds(10));
}

ProgressPrinter::~ProgressPrinter() {
  if (lines_shown_ > 0) std::fputs(redrawn(lines_shown_, {}, 0).c_str(), stderr);
}

void ProgressPrinter::rewrite(const std::vector<std::string>& lines) {
  std::fputs(redrawn(lines_shown_, lines, terminal_width()).c_str(), stderr);
  lines_shown_ = lines.size();
}

void ProgressPrinter::show(std::int64_t done, double fraction, const Below& below) {
  const Clock::time_point now = Clock::now();
  const double at_s = std::chrono::duration<double>(now - begin_).count();
  if (done != done_) done_s_ = at_s;
  done_ = done;
  const ProgressState far = {done, fraction, at_s, done_s_, may_end_};
  if (first_.done == 0 && first_.fraction <= 0) first_ = far;
  if (now < next_ || !shows_any) return;
  std::vector<std::string> lines = {progress_line(what_, first_, far)};
  if (below) {
    for (std::string& line : below(rewrites_ ? terminal_width() : kUnbroken))
      lines.push_back(std::move(line));
  }
  if (rewrites_) {
    rewrite(lines);
    next_ = now + std::chrono::milliseconds(200);
  } else {
    const std::string line =
        fmt::format("{}loaderscope: {}\n", line_start(STDERR_FILENO), fmt::join(lines, "; "));
    std::fputs(line.c_str(), stderr);
    next_ = now + std::chrono::seconds(10);
  }
  std::fflush(stderr);
}

}  // namespace loaderscope
