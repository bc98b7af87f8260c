#include "job/job_of_programs.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr Nanos kYear = 365 * 24 * 3600 * kSecond;

// Limit of silence. A program may end hours before the program of another host, and may pause for
// any time.
constexpr Nanos kInSilence = 120 * kSecond;

void say(const std::string& words) {
  std::fprintf(stderr, "loaderscope: %s\n", words.c_str());
  std::fflush(stderr);
}

}  // namespace

JobOfPrograms::JobOfPrograms(const RunConfig& config, const MachineFacts& machine,
                             ProcessAddress place, Nanos wait, const StopSignal& stop) {
  if (config.answer.prove != Prove::off)
    throw UsageError("--rendezvous: a program of several hosts is run once",
                     "leave out --prove and --try");
  try {
    meeting_ = std::make_unique<Rendezvous>(std::move(place), introduction_of(config, machine, 1),
                                            Rendezvous::Timeouts{wait, kInSilence, kYear}, &stop);
  } catch (const RunError& error) {
    if (stop != 0) throw;
    failure_ = error.what();
    say(failure_ + "; the program runs all the same, and its own part is measured");
  }
}

std::optional<JobAnswer> JobOfPrograms::bring_together(JobAnswer own, const StopSignal& stop) {
  if (meeting_ == nullptr) {
    if (own.failure.empty()) own.failure = failure_;
    return own;
  }
  bring_onto_first_clock(*meeting_, own.record, own.failure);
  if (meeting_->is_first()) {
    say("waits for what the other hosts have measured; Ctrl-C leaves out who still runs");
    return gather_records(*meeting_, std::move(own), book_waits_of_programs, &stop);
  }
  try {
    loaderscope::hand_over(*meeting_, own.record);
    return std::nullopt;
  } catch (const RunError& error) {
    if (own.failure.empty()) own.failure = error.what();
    return own;
  }
}

void JobOfPrograms::give_up(const std::string& why) {
  if (meeting_ != nullptr) meeting_->give_up(why);
}

}  // namespace loaderscope
