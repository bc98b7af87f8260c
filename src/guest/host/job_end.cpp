// End of a job, and the parts of it that could not be measured.
#include <fmt/format.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/failure_text.h"
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
  if (left_behind_ && (trains_on_ || training_.first_measured() == nullptr)) {
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
  const bool of_files = !host_.turned_away().empty() || reason == std::strerror(EMFILE);
  record.notes.push_back(
      fmt::format("{} of the DataLoader could not be looked into ({}{}): their batches are taken "
                  "to be as large "
                  "as the others, and what they did is not known",
                  workers == 1 ? "1 worker process" : fmt::format("{} worker processes", workers),
                  reason, of_files ? "; raise ulimit -n" : ""));
}

// A loader may be given other workers between two epochs.
void Job::say_changes(RunRecord& record) const {
  const LoaderHistory* history = training_.first_measured();
  if (history == nullptr || history->first_workers() == history->loader().num_workers) return;
  record.notes.push_back(fmt::format(
      "num_workers was changed from {} to {} between epochs: the settings shown are the last ones",
      history->first_workers(), history->loader().num_workers));
}

}  // namespace loaderscope::guest
