// End of a job: the reasons to end it, the processes that are asked to end, and the processes to
// wait for.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "base/thread_meter.h"
#include "guest/host/job.h"
#include "loaderscope/errors.h"

namespace loaderscope::guest {
namespace {

// With a program that is to end: until it is asked by a signal, until it is killed, and until its
// processes have said their last.
constexpr Nanos kUntilTerminated = 10 * kSecond;
constexpr Nanos kUntilKilled = 15 * kSecond;
constexpr Nanos kLastWords = kSecond;
// Time until workers notice the end of their trainer. PyTorch's workers poll every five seconds.
constexpr Nanos kUntilWorkersEnd = 8 * kSecond;
constexpr Nanos kUntilHelpersEnd = 6 * kSecond;  // helper processes of a program that was killed

}  // namespace

// Returns true for a running worker whose trainer has ended.
bool Job::is_orphan(const GuestProcess& member) const {
  if (!member.is_worker || member.ended()) return false;
  const auto& members = host_.members();
  return std::none_of(members.begin(), members.end(), [&](const auto& other) {
    return other->page() != nullptr && other->pid == member.trainer && !other->ended();
  });
}

// Returns true while a process may still report. Orphans end on their own. Other processes that
// keep running are not waited for.
bool Job::has_more_to_say(Nanos since_end) const {
  const auto& members = host_.members();
  return std::any_of(members.begin(), members.end(), [&](const auto& member) {
    return !member->ended() && since_end <= (is_orphan(*member) ? kUntilWorkersEnd : kLastWords);
  });
}

bool Job::has_running_trainer() const {
  const std::vector<JobProcess> still_there = running();
  return std::any_of(still_there.begin(), still_there.end(),
                     [](const JobProcess& process) { return !process.is_worker; });
}

// Kills all remaining processes after a forced stop, or after the second signal of the user.
// Otherwise kills only what orphans have started, and leaves the rest running.
void Job::end_or_leave_the_rest() {
  has_remaining_ = child_.has_descendants();
  segments_.look(running(), true);
  trains_on_ = has_running_trainer();
  if (stop_level_ > 1 || (second_signal_ && second_signal_->came())) {
    child_.end_all();
  } else {
    for (const auto& member : host_.members()) {
      if (is_orphan(*member)) child_.kill_descendants(member->pid);
    }
    // Helpers, such as those that keep the workers' shared memory, end after the workers.
    const bool killed = status_ && WIFSIGNALED(*status_);
    child_.wait_for_descendants(killed ? kUntilHelpersEnd : kLastWords);
    child_.let_offspring_go();
  }
  if (!child_.has_descendants()) segments_.remove_segments(processes_);
}

void Job::look_for_signals() {
  if (second_signal_) {
    if (second_signal_->came()) child_.signal(SIGKILL);
    return;
  }
  if (context_.stop_signal == nullptr || context_.stop_signal->load() == 0) return;
  second_signal_.emplace();
  child_.interrupt();
  begin_to_stop();
}

void Job::begin_to_stop() {
  if (stopping_since_ != 0) return;
  stopping_since_ = monotonic_now();
  host_.ask_to_stop();
}

void Job::stop_harder() {
  if (stopping_since_ == 0) return;
  const Nanos since = monotonic_now() - stopping_since_;
  if (since > kUntilTerminated && stop_level_ == 0) {
    child_.signal(SIGTERM);
    ++stop_level_;
  }
  if (since > kUntilKilled && stop_level_ == 1) {
    child_.signal(SIGKILL);
    ++stop_level_;
  }
}

void Job::watch_for_silence() {
  const Nanos allowed = config_.measure.timeout;
  const Nanos silent =
      std::min(training_.longest_wait(), monotonic_now() - std::max(started_, resumed_at_));
  if (allowed == 0 || stopping_since_ != 0 || silent <= allowed) return;
  give_up(fmt::format("{}: no batch came for {}; {}, or give a longer --timeout", program(),
                      format_duration(allowed),
                      hang_.empty() ? "look at what the workers wait for" : hang_));
}

void Job::give_up(const std::string& why) {
  segments_.look(running(), true);
  child_.end_all();
  segments_.remove_segments(processes_);
  throw RunError(why);
}

// A job of hours is not to end in an error that was certain after its first batches.
void Job::watch_injections() {
  constexpr std::int64_t kEnough = 20, kEach = 4;  // batches, and of each worker
  if (stopping_since_ != 0 || !training_.each_has_taken(kEnough, kEach)) return;
  const std::string missing = messages_.injected().missing(true);
  if (!missing.empty()) give_up(missing);
}

namespace {

volatile std::sig_atomic_t signal_came = 0;

extern "C" void on_second_signal(int) { signal_came = 1; }

}  // namespace

SecondSignal::SecondSignal() {
  signal_came = 0;
  struct sigaction action {};
  action.sa_handler = on_second_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

SecondSignal::~SecondSignal() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

bool SecondSignal::came() const { return signal_came != 0; }

}  // namespace loaderscope::guest
