#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "analysis/wording.h"
#include "base/printable.h"
#include "loaderscope/errors.h"
#include "loaderscope/units.h"

namespace loaderscope {
namespace {

constexpr std::size_t kUnbroken = 1000;  // columns of a line for a log

// One less than the terminal has: a full line would be broken.
std::size_t terminal_width() {
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return is_known ? size.ws_col - 1U : 79;
}

bool shows_any = true;

// Time between two lines in a log. A notebook shows one line in place of the other, and asks for
// more of them.
std::chrono::nanoseconds log_interval() {
  constexpr Nanos kUsual = 10 * kSecond, kMin = 100 * kMillisecond;
  const char* given = std::getenv("LOADERSCOPE_PROGRESS_EVERY");
  if (given == nullptr || *given == '\0') return std::chrono::nanoseconds(kUsual);
  try {
    return std::chrono::nanoseconds(std::max(parse_duration(given), kMin));
  } catch (const ValueError& error) {
    throw add_place<UsageError>("LOADERSCOPE_PROGRESS_EVERY: ", error);
  }
}

constexpr std::size_t kMaxCauses = 4;
constexpr double kVisible = 0.005;  // share of the window

double share(Nanos part, Nanos whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string bar(double share, std::size_t columns) {
  const auto filled =
      static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns) + 0.5);
  return "[" + std::string(filled, '#') + std::string(columns - filled, '.') + "]";
}

// A window is as long as all ranks' together, by their number.
std::string busy_line(const RunningAccount& account, std::size_t width) {
  constexpr std::size_t kMaxBar = 30, kShortestBar = 8;
  const double wall = seconds(account.window) / account.ranks;
  const std::string before =
      account.compute > 0
          ? fmt::format("busy {} ", format_percent(share(account.compute, account.window)))
          : std::string();
  const bool has_samples = account.samples > 0;  // a program's batches may hold none that is known
  const std::string after = fmt::format(
      "{} {}/s, a batch was ready {}, {:.1f} queued",
      format_rate(static_cast<double>(has_samples ? account.samples : account.steps) / wall),
      has_samples ? "samples" : "batches",
      format_percent(static_cast<double>(account.ready) / static_cast<double>(account.steps)),
      static_cast<double>(account.queued) / static_cast<double>(account.window));
  if (account.compute == 0) return after.substr(0, width);
  const std::size_t taken = before.size() + after.size() + 3;
  const std::size_t room = width > taken ? std::min(kMaxBar, width - taken) : 0;
  const std::string line =
      before +
      (room >= kShortestBar ? bar(share(account.compute, account.window), room) + " " : "") + after;
  return line.substr(0, width);
}

std::string waits_line(const RunningAccount& account, std::size_t width) {
  std::vector<std::pair<double, std::string_view>> causes;
  for (const auto& word : Words<Cause>::table()) {
    const double window_part = share(account.stall[word.value], account.window);
    if (window_part >= kVisible) causes.emplace_back(window_part, shown_name(word.name));
  }
  std::sort(causes.rbegin(), causes.rend());
  std::string line;
  for (std::size_t i = 0; i < std::min(kMaxCauses, causes.size()); ++i) {
    const std::string next = fmt::format("{}{} {}", line.empty() ? "waits for " : ", ",
                                         causes[i].second, format_percent(causes[i].first));
    if (line.size() + next.size() > width) break;
    line += next;
  }
  return line;
}

}  // namespace

std::string progress_line(const std::string& what, const ProgressState& since,
                          const ProgressState& now) {
  constexpr double kMinRateTime = 1;  // seconds
  if (now.done == 0 && now.fraction <= 0) return "no " + what + " yet";
  std::string line = fmt::format("{} {}", now.done, what);
  if (now.fraction > 0) line = fmt::format("{:.0f} %, {}", 100 * std::min(now.fraction, 1.0), line);
  const double elapsed_s = now.at_s - since.at_s;
  if (elapsed_s < kMinRateTime) return line;
  const double doing_s = now.done_s - since.at_s;
  if (doing_s >= kMinRateTime)
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

void ProgressPrinter::format_none() { shows_any = false; }

bool ProgressPrinter::shows() { return shows_any; }

ProgressPrinter::ProgressPrinter(std::string what, Terminal terminal)
    : what_(std::move(what)),
      rewrites_(terminal == Terminal::own && isatty(STDERR_FILENO) == 1),
      begin_(Clock::now()),
      may_end_(terminal == Terminal::shared) {
  next_ = begin_ + (rewrites_ ? std::chrono::milliseconds(500) : log_interval());
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
    next_ = now + log_interval();
  }
  std::fflush(stderr);
}

std::vector<std::string> live_lines(const RunningAccount& account, std::size_t width) {
  if (account.steps == 0 || account.window <= 0) return {};
  std::vector<std::string> lines = {busy_line(account, width)};
  std::string waits = waits_line(account, width);
  if (!waits.empty()) lines.push_back(std::move(waits));
  return lines;
}

}  // namespace loaderscope
