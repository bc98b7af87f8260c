// The account: every nanosecond before the compute of a step, booked to one cause. Pure functions.
#pragma once

#include <functional>
#include <span>

#include "base/time_range.h"
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
  // Time in which every lane of the device that made the batch had nothing to do, because the batch
  // waited for a free slot.
  Nanos lanes_rested = 0;
};

// A part of the time that a step waits for production on the device.
struct DeviceWait {
  TimeRange range;
  const DeviceWork* task = nullptr;  // the task that is waited for
  bool runs = false;                 // the task runs on the device
  Nanos queued = 0;                  // run-queue delay of the call that submits it, ns
};

// Splits `within`, in which the device thread has the batch, into parts with one task each.
// Requires a step that is made on the device, with its times in order.
void visit_device_waits(const StepEvents& events, TimeRange within,
                        const std::function<void(const DeviceWait&)>& visit);

// Returns the run-queue delay in ns of the part of `work` that lies in `within`.
Nanos queued_time(const Interval& work, TimeRange within);
// Returns the part in ns of `whole`, spread evenly over `over`, that falls into `within`. Parts of
// adjoining ranges add up to `whole` exactly.
Nanos prorate(Nanos whole, TimeRange over, TimeRange within);

// Orders the times of a step by causality, from `idle_begin` on. Returns the sum of ns moved; 0 for
// engines with one clock.
Nanos clamp_into_order(StepEvents& events, Nanos idle_begin);

// Books the idle time [idle_begin, compute.begin) of `step`, whose times are in order. With
// `straggler`, the rank waits for the same step of that slowest rank once it is ready itself. The
// wait is booked to the causes of the straggler.
StepRow book_step(const StepView& step, const StepView* straggler = nullptr);

}  // namespace loaderscope
