#include "job/exit_watchdog.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "base/printable.h"
#include "base/sleep.h"
#include "base/thread_meter.h"
#include "job/interrupt.h"
#include "machine/proc_file.h"
#include "watch/thread_activity.h"

namespace loaderscope {
namespace {

constexpr Nanos kWatchEvery = kSecond / 5;
constexpr Nanos kToComeBack = 20 * kSecond;  // threads of a run get 15

std::set<pid_t> own_threads() {
  std::set<pid_t> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const std::string name = entry.path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    threads.insert(thread);
  }
  return threads;
}

// Returns how many times the thread was put on a core.
std::int64_t count_turns(pid_t thread) {
  std::ifstream file(fmt::format("/proc/self/task/{}/schedstat", thread));
  std::int64_t ran = 0, waited = 0, turns = 0;
  file >> ran >> waited >> turns;
  return turns;
}

// Returns the system call that the thread waits in, and its file, as part of a sentence.
std::string standing_words(pid_t thread) {
  const watch::ThreadLook look = watch::look_at_thread("/", ::getpid(), thread);
  if (look.call.empty()) return "is in the kernel (" + look.wchan + ")";
  const std::string object = look.object.empty() ? "" : " of " + printable(look.object);
  return fmt::format("is in {}{}", look.call, object);
}

// Returns true if the thread waits for a FUSE server. The kernel waits for the end of such a
// request, even in a killed process.
bool waits_for_fuse(pid_t thread) {
  return read_text(fmt::format("/proc/self/task/{}/wchan", thread)) == watch::kWaitsForFuse;
}

bool is_held(pid_t thread) {
  const auto stat = read_process_stat(fmt::format("/proc/self/task/{}", thread));
  return (stat && stat->state == 'D') || waits_for_fuse(thread);
}

void close_held_output() {
  std::fflush(nullptr);
  const std::set<pid_t> threads = own_threads();
  if (std::ranges::none_of(threads, is_held)) return;
  if (const auto held = std::ranges::find_if(threads, waits_for_fuse); held != threads.end())
    std::fprintf(stderr,
                 "loaderscope: the kernel may hold this process until the server of a file system "
                 "(FUSE) answers or ends (one of its threads %s)\n",
                 standing_words(*held).c_str());
  ::close(STDOUT_FILENO);
  ::close(STDERR_FILENO);
}

}  // namespace

void close_output_where_threads_are_held() {
  [[maybe_unused]] static const int once = std::atexit(close_held_output);
}

ExitWatchdog::ExitWatchdog(Job job, const std::atomic<int>& stop_signal)
    : job_(std::move(job)),
      stop_signal_(stop_signal),
      watched_(::gettid()),
      others_(own_threads()),
      thread_([this] { watch(); }) {}

ExitWatchdog::~ExitWatchdog() {
  is_over_.store(true);
  thread_.join();
}

std::int64_t ExitWatchdog::turns() const {
  std::int64_t turns = count_turns(watched_);
  for (const pid_t thread : own_threads())
    if (thread != ::gettid() && !others_.contains(thread)) turns += count_turns(thread);
  return turns;
}

void ExitWatchdog::watch() {
  std::optional<Nanos> ended_at;
  std::int64_t last_turns = -1;
  Nanos ran_at = monotonic_now();
  while (!is_over_.load()) {
    sleep_until(monotonic_now() + kWatchEvery);
    const Nanos now = monotonic_now();
    if (const std::int64_t turns = this->turns(); turns != last_turns) {
      last_turns = turns;
      ran_at = now;
    }
    const std::string failure = job_.failure();
    if (!ended_at && (!failure.empty() || stop_signal_ != 0)) ended_at = now;
    const bool hangs = job_.timeout != 0 && now - ran_at >= job_.timeout;
    if (ended_at && (hangs || now - *ended_at > kToComeBack))
      end(fmt::format("{}; this process does not end: it {}",
                      failure.empty() ? "interrupted" : failure, standing_words(watched_)));
    if (!hangs || ended_at) continue;
    const std::string why = fmt::format(
        "nothing of it has run for {}: it {}; look at its storage, or give a longer "
        "--timeout",
        format_duration(job_.timeout), standing_words(watched_));
    job_.give_up(why);
    end("this process hangs: " + why);
  }
}

void ExitWatchdog::end(const std::string& why) const {
  if (is_over_.load()) return;
  std::fprintf(stderr, "loaderscope: %s\n", why.c_str());
  close_held_output();
  ::_exit(static_cast<int>(exit_code_of_failure()));
}

}  // namespace loaderscope
