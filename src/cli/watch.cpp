// loaderscope watch
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "base/failure_text.h"
#include "base/printable.h"
#include "base/sleep.h"
#include "base/thread_meter.h"
#include "cli/command.h"
#include "cli/command_flags.h"
#include "cli/export_flags.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "job/interrupt.h"
#include "job/version_text.h"
#include "report/results.h"
#include "watch/job_board.h"
#include "watch/node_watch.h"
#include "watch/roles.h"

namespace loaderscope {
namespace {

// A terminal screen that is redrawn until the user presses `q`.
class LiveScreen {
 public:
  static bool is_possible();  // standard output is a terminal that can be drawn on

  LiveScreen();
  ~LiveScreen();  // restores the screen
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  void show(const std::string& text);
  bool wants_to_quit() const;  // `q` was pressed

 private:
  bool reads_keys_ = false;
  termios before_{};
};

// Ignores errors, because the terminal itself is gone.
void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool LiveScreen::is_possible() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

// Keys come at once and are not shown; Ctrl-C stays a signal.
LiveScreen::LiveScreen() {
  if (::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp() &&
      ::tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    reads_keys_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
  }
  put("\x1b[?1049h\x1b[?25l");
}

LiveScreen::~LiveScreen() {
  put("\x1b[?25h\x1b[?1049l");
  if (reads_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void LiveScreen::show(const std::string& text) {
  std::string drawn = "\x1b[H";
  for (const char letter : text) drawn += letter == '\n' ? "\x1b[K\n" : std::string(1, letter);
  put(drawn + (reads_keys_ ? "q: quit, with the summary\x1b[J" : "\x1b[J"));
}

bool LiveScreen::wants_to_quit() const {
  pollfd keys{STDIN_FILENO, POLLIN, 0};
  char key = 0;
  while (reads_keys_ && ::poll(&keys, 1, 0) == 1 && ::read(STDIN_FILENO, &key, 1) == 1) {
    if (key == 'q' || key == 'Q') return true;
  }
  return false;
}

struct WatchFlags {
  std::string pid, interval, duration, hang_after;
  AnswerFiles answer;
  std::vector<std::string> command;
  bool all = false;
  ExportFlags exports;
  DetailFlags detail;
};

template <class T>
T value_of(const char* flag, const std::string& text, T (*parse)(std::string_view)) {
  try {
    return parse(text);
  } catch (const ValueError& error) {
    throw add_place<UsageError>(fmt::format("{} {}: ", flag, shown_text(text)), error);
  }
}

Nanos parse_time(const char* flag, const std::string& text, Nanos least) {
  const Nanos time = value_of(flag, text, parse_duration);
  if (time < least)
    throw UsageError(
        fmt::format("{} {}: expected {} or more", flag, shown_text(text), duration_to_text(least)),
        fmt::format("give {} {}", flag, duration_to_text(least)));
  return time;
}

// Throws for a missing job, and lists the running jobs.
[[noreturn]] void refuse_no_job() {
  std::string found;
  for (const pid_t pid : watch::trainers_here("/"))
    found += fmt::format("{}{} ({})", found.empty() ? "" : ", ", pid,
                         shown_text(watch::spelled_command("/", pid, "")));
  throw UsageError("watch: expected --pid PID of a running job, or -- COMMAND",
                   found.empty()
                       ? "start a job: no process here has workers of a PyTorch DataLoader"
                       : "these processes have workers of a DataLoader: " + found);
}

template <class Options>
void set_times(const WatchFlags& flags, Options& options) {
  options.interval = parse_time("--interval", flags.interval, 100 * kMillisecond);
  options.hang_after = parse_time("--hang-after", flags.hang_after, kSecond);
  if (!flags.duration.empty())
    options.duration = parse_time("--duration", flags.duration, kMillisecond);
}

watch::WatchOptions watch_options(const WatchFlags& flags) {
  constexpr std::int64_t kMaxPid = 1 << 22;
  if (flags.pid.empty() == flags.command.empty()) {
    if (flags.pid.empty()) refuse_no_job();
    throw UsageError("watch: --pid and -- COMMAND exclude each other", "give one of the two");
  }
  watch::WatchOptions options;
  set_times(flags, options);
  if (flags.pid.empty()) return options;
  const std::int64_t pid = value_of("--pid", flags.pid, parse_count);
  if (pid < 1 || pid > kMaxPid)
    throw UsageError("--pid " + shown_text(flags.pid) + ": expected the number of a process",
                     "find it with: ps -e");
  options.pid = static_cast<pid_t>(pid);
  watch::check_process(options.root, options.pid);
  return options;
}

// Progress display: a screen of a terminal, else a line now and then.
class WatchProgress {
 public:
  // A program prints where a screen would be.
  WatchProgress(bool has_program, const DetailFlags& detail) : detail_(detail) {
    if (!has_program && LiveScreen::is_possible() && ProgressPrinter::shows()) screen_.emplace();
  }

  bool show(const watch::Watch& now) {  // false: enough
    if (screen_) {
      std::ostringstream text;
      find_row("table", report_table())
          .write(text, make_result(now, version_number()), answer_style(detail_));
      screen_->show(text.str());
      return !screen_->wants_to_quit();
    }
    const bool has_stopped = !now.hang_states.empty() && !hangs_;
    hangs_ = !now.hang_states.empty();
    if (has_stopped) {
      for (const std::string& line : now.hang_states) say(line);
    } else if (now.watched_s >= next_s_) {
      say(fmt::format("{:.0f} s: {}", now.watched_s, now.sentence));
    }
    if (has_stopped || now.watched_s >= next_s_) next_s_ = now.watched_s + kEvery;
    return true;
  }

 private:
  static constexpr double kEvery = 10;  // seconds

  static void say(const std::string& line) {
    if (ProgressPrinter::shows())
      std::fprintf(stderr, "loaderscope: %s\n", printable(line).c_str());
  }

  DetailFlags detail_;
  std::optional<LiveScreen> screen_;
  double next_s_ = kEvery;
  bool hangs_ = false;
};

// Asked first; what does not end is killed with its child's object.
void end_program(ChildProcess& child) {
  constexpr Nanos kGoodbye = 5 * kSecond;
  child.interrupt();
  const Nanos until = monotonic_now() + kGoodbye;
  while (!child.status() && monotonic_now() < until) sleep_until(monotonic_now() + kSecond / 50);
}

ExitCode watch_exit_code(const WatchFlags& flags, const std::optional<int>& status) {
  if (!status || (WIFEXITED(*status) && WEXITSTATUS(*status) == 0)) return ExitCode::ok;
  throw RunError(fmt::format("{}: {}", shown_text(flags.command.front()), describe_exit(*status)),
                 "see its own messages above");
}

// Watches all jobs of this machine for monitors, until a signal or for --duration.
ExitCode run_watch_all(const WatchFlags& flags) {
  if (!flags.pid.empty() || !flags.command.empty())
    throw UsageError("watch: --all excludes --pid and -- COMMAND", "leave them out");
  if (!flags.answer.places().empty())
    throw UsageError("watch: --all has no result to save", "leave out --json and --html");
  watch::NodeOptions options;
  set_times(flags, options);
  const monitor::ExportOptions exports = export_options(flags.exports);
  if (!exports.is_on())
    throw UsageError("watch: --all needs --metrics or --otlp", "give --all --metrics :9400");
  const std::atomic<int>& stop_signal = catch_stop_signals();
  monitor::Exporter exporter(exports);
  if (!exporter.exports())
    throw RunError("watch: no place receives the metrics", "give another --metrics ADDRESS");
  watch::JobBoard board(exporter.board(), exports.host);
  watch::watch_node(
      options, stop_signal,
      {[&](const watch::Watch& now) { board.show(now); }, [&](pid_t pid) { board.remove(pid); },
       [&](std::size_t jobs) {
         exports.say(fmt::format("{} are not watched: {} is the maximum",
                                 plural(static_cast<std::int64_t>(jobs), "job"), options.max_jobs));
       }});
  const int signal = stop_signal.load();
  return signal != 0 ? exit_code_of_signal(signal) : ExitCode::ok;
}

ExitCode run_watch(const WatchFlags& flags) {
  if (flags.all) return run_watch_all(flags);
  watch::WatchOptions options = watch_options(flags);
  const Places places = flags.answer.places();
  check_places(places, "watch", {flags.answer.force, flags.command});
  const monitor::ExportOptions exports = export_options(flags.exports);
  const std::atomic<int>& stop_signal = catch_stop_signals();
  std::optional<ChildProcess> child;
  if (!flags.command.empty()) {
    child.emplace(flags.command, Variables{}, STDERR_FILENO, "", ProcessGroup::ours);
    options.child = &*child;
    options.pid = child->pid();
  }
  std::optional<monitor::Exporter> exporter;
  std::optional<watch::JobBoard> board;
  if (exports.is_on()) board.emplace(exporter.emplace(exports).board(), exports.host);
  std::optional<WatchProgress> progress(std::in_place, child.has_value(), flags.detail);
  const watch::Watch result = watch::watch_job(options, stop_signal, [&](const watch::Watch& now) {
    if (board) board->show(now);
    return progress->show(now);
  });
  progress.reset();
  board.reset();
  exporter.reset();
  const bool has_ended = !child || child->status();
  if (!has_ended) end_program(*child);
  write_answer(places, make_result(result, version_number()), answer_style(flags.detail));
  if (const int signal = stop_signal.load()) return exit_code_of_signal(signal);
  return child && has_ended ? watch_exit_code(flags, child->status()) : ExitCode::ok;
}

}  // namespace

Action declare_watch(CLI::App& app) {
  const auto flags = std::make_shared<WatchFlags>();
  flags->interval = "1s";
  flags->hang_after = "10s";
  app.add_option("--pid", flags->pid,
                 "Watch the job with this process ID: its first process, or its trainer.")
      ->type_name("PID");
  app.add_option("--command", flags->command,
                 "A word of a program to start and watch, and to end afterwards. Short form: '-- "
                 "PROGRAM' at the end.")
      ->type_name("WORD")
      ->allow_extra_args(false);
  app.add_option("--duration", flags->duration, "Watch for this long. Default: until the job ends.")
      ->type_name("TIME");
  app.add_option("--interval", flags->interval, "Time between two samples. Default: 1s.")
      ->type_name("TIME");
  app.add_option("--hang-after", flags->hang_after,
                 "Report where each process hangs after this time without progress. Default: 10s.")
      ->type_name("TIME");
  app.add_flag("--all", flags->all,
               "Watch all jobs here that have workers of a PyTorch DataLoader. Needs --metrics or "
               "--otlp.");
  for (const auto& [flag, value] : {std::pair(kMetricsFlag, &flags->exports.metrics),
                                    {kOtlpFlag, &flags->exports.otlp},
                                    {kOtlpIntervalFlag, &flags->exports.interval}})
    app.add_option("--" + std::string(flag.name), *value, std::string(flag.help))
        ->type_name(std::string(flag.value_name));
  app.add_option("--stall-after", flags->hang_after)->group(std::string(kHidden));
  app.add_option("--json", flags->answer.json,
                 "Also write the result to this file; - prints only JSON.")
      ->type_name("FILE");
  app.add_option("--html", flags->answer.html, "Also save a page with its pictures in this file.")
      ->type_name("FILE");
  app.add_flag("--force", flags->answer.force,
               "Let --json FILE and --html FILE replace files that are no results.");
  add_detail(app, flags->detail);
  return [flags] { return run_watch(*flags); };
}

}  // namespace loaderscope
