// Messages to the user while a job runs.
#include <fmt/format.h>

#include "base/thread_meter.h"
#include "guest/host/job.h"

namespace loaderscope::guest {

// Reports a hang. The job keeps running, because the missing event may still come.
void Job::watch_for_a_hang() {
  if (status_ || stopping_since_ != 0) return;
  if (const auto report = hangs_.look(monotonic_now())) {
    for (const std::string& line : report->lines()) output_.say(line);
    hang_ = report->answer + (report->cause.empty() ? "" : "; " + report->cause);
    messages_.note(hang_);
  }
  if (const auto stood = hangs_.goes_on())
    output_.say(
        fmt::format("the loader continues after {} without a batch", format_duration(*stood)));
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
