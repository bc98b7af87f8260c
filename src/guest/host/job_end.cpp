// End of a job, and the parts of it that could not be measured.
#include <fmt/format.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/failure_text.h"
#include "base/thread_meter.h"
#include "guest/host/job.h"
#include "loaderscope/errors.h"

namespace loaderscope::guest {
namespace {

std::string where_to_look(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    return "if no user did so, memory ran out: look at dmesg, and at the limits of its container";
  return "what it said of it is above";
}

bool is_success(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

}  // namespace

// Returns how the program failed if it may have been measured until then. Throws RunError for other
// failures.
std::string Job::check_end() const {
  if (!messages_.refusal().empty()) throw RunError(messages_.refusal());
  if (!broke_off_.empty()) {
    throw RunError(fmt::format("{}: {}, and measuring had failed before ({})", program(),
                               describe_exit(*status_), broke_off_));
  }
  if (second_signal_) return "";
  const std::string missing = messages_.injected().missing(false);
  if (complete_ && !missing.empty()) throw RunError(missing);
  if (complete_) return "";
  const std::string end = describe_exit(*status_);
  if (!messages_.failure().empty() && !is_success(*status_)) {
    return fmt::format("{}: {}, {}; its traceback is above", program(), end, messages_.failure());
  }
  if (!is_success(*status_)) {
    return fmt::format("{}: {}; {}", program(), end, where_to_look(*status_));
  }
  check_taken();
  if (!missing.empty()) throw RunError(missing);
  return "";
}

// A program that ended well, and gave nothing to measure.
void Job::check_taken() const {
  if (files_.pythons_seen() == 0) {
    throw RunError(program() + ": no Python was started that could be measured",
                   "name a Python program, and leave out Python's own flags -E, -I and -S");
  }
  if (has_remaining_ && (trains_on_ || training_.first_measured() == nullptr)) {
    throw RunError(program() + ": ended, and left processes that keep running without it",
                   "start it in the foreground");
  }
  if (training_.first_measured() != nullptr) return;
  std::string unseen = messages_.not_looked_into();
  for (const UnmeasuredProcess& one : unmeasured()) {
    if (unseen.empty()) unseen = one.reason;
  }
  const std::string& named = config_.program.batch_function.value;
  if (unseen.empty() && !named.empty()) {
    throw RunError(fmt::format("--batch-function {}: {} ended without calling it after the making "
                               "of an optimizer, or it was not found before",
                               shown_text(named), program()),
                   "name the function that its training loop calls for a batch");
  }
  const auto& maker = messages_.maker();
  const std::string place = maker && !maker->place.empty() ? maker->place : "FILE.py:NAME";
  if (unseen.empty()) {
    throw RunError(
        program() + ": ended without taking a batch from a loader that is known",
        "name the function that gives the batches, if it has one: " + with_batch_function(place));
  }
  throw RunError(program() +
                 " ended without taking a batch from a loader that could be measured: " + unseen);
}

// Returns the processes that could not be measured, by their own reports and by the host's. A
// process that joined later was measured.
std::vector<UnmeasuredProcess> Job::unmeasured() const {
  std::vector<UnmeasuredProcess> all = files_.unmeasured();
  all.insert(all.end(), host_.turned_away().begin(), host_.turned_away().end());
  std::erase_if(all,
                [this](const UnmeasuredProcess& one) { return processes_.count(one.process) > 0; });
  return all;
}

// Notes that the host knows only the arrival of these workers' batches.
void Job::say_unmeasured(RunRecord& record) const {
  std::int64_t workers = 0;
  std::string reason;
  for (const UnmeasuredProcess& one : unmeasured()) {
    if (!one.is_worker) continue;
    ++workers;
    reason = one.reason;
  }
  if (workers == 0) return;
  const bool lacks_files = !host_.turned_away().empty() || reason == std::strerror(EMFILE);
  record.notes.push_back(
      fmt::format("{} of the DataLoader could not be looked into ({}{}): their batches are taken "
                  "to be as large "
                  "as the others, and what they did is not known",
                  workers == 1 ? "1 worker process" : fmt::format("{} worker processes", workers),
                  reason, lacks_files ? "; raise ulimit -n" : ""));
}

// A loader may be given other workers between two epochs.
void Job::say_changes(RunRecord& record) const {
  const LoaderHistory* history = training_.first_measured();
  if (history == nullptr || history->first_workers() == history->loader().num_workers) return;
  record.notes.push_back(fmt::format(
      "num_workers was changed from {} to {} between epochs: the settings shown are the last ones",
      history->first_workers(), history->loader().num_workers));
}

// Messages to the user while a job runs.

// Reports a hang. The job keeps running, because the missing event may still come.
void Job::watch_for_a_hang() {
  if (status_ || stopping_since_ != 0) return;
  if (const auto report = hangs_.look(monotonic_now())) {
    for (const std::string& line : report->lines()) output_.say(line);
    hang_ = report->answer + (report->cause.empty() ? "" : "; " + report->cause);
    messages_.note(hang_);
  }
  if (const auto hang_length = hangs_.take_ended_hang())
    output_.say(fmt::format("the loader continues after {} without a batch",
                            format_duration(*hang_length)));
}

void Job::watch_for_unequal_ranks() {
  const auto unequal = lengths_.look(training_, monotonic_now());
  if (!unequal) return;
  output_.say(*unequal);
  messages_.note(*unequal);
}

// Warns if no loader was seen. The program may prepare its data for hours, and only its batches
// show whether to end it.
void Job::watch_for_a_loader() {
  const Nanos since = monotonic_now() - started_;
  const bool is_seen = training_.first_measured() != nullptr || training_.longest_wait() > 0;
  if (status_ || stopping_since_ != 0 || is_seen || !unseen_.is_due(since)) return;
  output_.say(
      unseen_.sentence(program(), since, files_.pythons_seen(), messages_.not_looked_into()));
}

// Reports the place that makes the batches. The program finds it while it trains.
void Job::say_maker() {
  if (maker_said_ || !messages_.maker()) return;
  maker_said_ = true;
  const MakerMessage& maker = *messages_.maker();
  const std::string so_far =
      program() + ": no loader has given a batch after 10 s of training, and ";
  if (maker.place.empty()) {
    output_.say(so_far +
                "no function of its own files was seen to give tensors; name the one "
                "that does: " +
                with_batch_function("FILE.py:NAME"));
    return;
  }
  output_.say(fmt::format(
      "{}its tensors come from {}{}: {}", so_far, maker.place,
      maker.measured ? ", which is measured from now on; to measure all of it" : "; measure that",
      with_batch_function(maker.place)));
  if (!maker.measured) return;
  messages_.note(fmt::format(
      "no loader had given a batch after 10 s of training; {} was seen to give them, and is "
      "measured from then on (all of it with --batch-function {})",
      maker.place, maker.place));
}

}  // namespace loaderscope::guest
