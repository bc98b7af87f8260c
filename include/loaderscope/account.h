// The account: every nanosecond before the compute of a step, booked to one cause. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "loaderscope/events.h"

namespace loaderscope {

// One step, folded. Times are those of the step's events; the booked ns are those of the GPU's idle
// time between the compute of the step before and this one.
struct StepRow {
  std::int64_t step = 0;
  std::int32_t epoch = 0;
  std::int32_t worker = 0;
  std::int32_t samples = 0;
  bool warmup = false;
  bool first_of_epoch = false;
  Nanos ask = 0, deliverable = 0, take = 0;
  Nanos copy_begin = 0, copy_end = 0;
  Nanos idle_begin = 0;  // end of the compute before, or the first ask
  Nanos compute_begin = 0, compute_end = 0;
  PerCause<Nanos> stall{};
  Nanos not_asking = 0;  // of launch: the batch was deliverable and the trainer had not asked
  Nanos waiting_for_ranks = 0;  // of all causes: this rank was ready and waited for the slowest
  PerWhy<Nanos> why{};
  Nanos order = 0;    // a later batch was deliverable while this one was waited for
  Nanos clamped = 0;  // moved to bring the step's times into order

  Nanos idle() const { return compute_begin - idle_begin; }
  Nanos compute() const { return compute_end - compute_begin; }
  bool operator==(const StepRow&) const = default;
};
static_assert(sizeof(StepRow) <= 256 && std::is_trivially_copyable_v<StepRow>);

// What the steps of a rank hung on: the chain of events, each begun by the end of the one before,
// that led to the end of the window.
struct CriticalPath {
  Nanos compute = 0;
  PerCause<Nanos> stall{};

  bool operator==(const CriticalPath&) const = default;
};

// The spans of one worker that are still of interest, in the order of time.
using WorkerTimeline = std::span<const Span>;

// What the device of one rank was waiting for before a step.
struct StepView {
  const StepEvents* events = nullptr;
  Nanos idle_begin = 0;        // end of the compute before, or the first ask
  WorkerTimeline worker;       // of events->worker, from `idle_begin` or earlier on
  bool worker_was_up = false;  // it had spans that ended before those of `worker`
  Nanos later_ready = kNever;  // when the first batch behind this one became deliverable
};

// Brings the times of a step into the order that causality demands, beginning at `idle_begin`, and
// returns the sum of ns moved. 0 for every engine whose clocks are one.
Nanos clamp_into_order(StepEvents& events, Nanos idle_begin);

// Books the idle time [idle_begin, compute.begin) of `step`, whose times are in order. With
// `straggler` the rank waits, from when it is ready, for that slowest rank's same step: the wait is
// booked to what the straggler waited for.
StepRow book_step(const StepView& step, const StepView* straggler = nullptr);

}  // namespace loaderscope
