// The account: every nanosecond before the compute of a step, booked to one cause. Pure functions.
#pragma once

#include <span>

#include "loaderscope/run_record.h"

namespace loaderscope {

// The spans of one worker that are still of interest, in the order of time; at one instant what
// brings it up comes first.
using WorkerTimeline = std::span<const Span>;

// What the device of one rank was waiting for before a step.
struct StepView {
  const StepEvents* events = nullptr;
  Nanos idle_begin = 0;            // end of the compute before, or the first ask
  WorkerTimeline worker;           // of events->worker, from `idle_begin` or earlier on
  bool worker_was_up = false;      // it had spans that ended before those of `worker`
  Cause maker = Cause::transport;  // what its worker's CPU is chiefly used for
  Nanos later_ready = kNever;      // when the first batch behind this one became deliverable
};

// Brings the times of a step into the order that causality demands, beginning at `idle_begin`, and
// returns the sum of ns moved. 0 for every engine whose clocks are one.
Nanos clamp_into_order(StepEvents& events, Nanos idle_begin);

// Books the idle time [idle_begin, compute.begin) of `step`, whose times are in order. With
// `straggler` the rank waits, from when it is ready, for that slowest rank's same step: the wait is
// booked to what the straggler waited for.
StepRow book_step(const StepView& step, const StepView* straggler = nullptr);

}  // namespace loaderscope
