// The account: every nanosecond before the compute of a step, booked to one cause. Pure functions.
#pragma once

#include <span>

#include "loaderscope/run_record.h"

namespace loaderscope {

// Spans of one worker that the account still needs, ordered by time. Start-up spans come first
// among equals.
using WorkerTimeline = std::span<const Span>;

// A step of one rank, with all that the account needs to book the stall before it.
struct StepView {
  const StepEvents* events = nullptr;
  Nanos idle_begin = 0;            // end of the compute before, or the first ask
  WorkerTimeline worker;           // spans of events->worker, from `idle_begin` or earlier
  bool worker_was_up = false;      // true if the worker had spans that ended before `worker`
  Cause maker = Cause::transport;  // cause that takes most of the worker's CPU time
  Nanos later_ready = kNever;      // time when the first later batch became deliverable
};

// Orders the times of a step by causality, from `idle_begin` on. Returns the sum of ns moved; 0 for
// engines with one clock.
Nanos clamp_into_order(StepEvents& events, Nanos idle_begin);

// Books the idle time [idle_begin, compute.begin) of `step`, whose times are in order. With
// `straggler`, the rank waits for the same step of that slowest rank once it is ready itself. The
// wait is booked to the causes of the straggler.
StepRow book_step(const StepView& step, const StepView* straggler = nullptr);

}  // namespace loaderscope
