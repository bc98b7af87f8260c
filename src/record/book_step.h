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

// Brings the times of a step into the order that causality demands, beginning at `idle_begin`, and
// returns the sum of ns moved. 0 for every engine whose clocks are one.
Nanos clamp_into_order(StepEvents& events, Nanos idle_begin);

// Books the idle time [idle_begin, compute.begin) of `step`, whose times are in order. With
// `straggler` the rank waits, from when it is ready, for that slowest rank's same step: the wait is
// booked to what the straggler waited for.
StepRow book_step(const StepView& step, const StepView* straggler = nullptr);

}  // namespace loaderscope
