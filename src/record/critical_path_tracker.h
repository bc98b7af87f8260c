// Critical path of a rank. The end of one event starts the next. A worker waits for its previous
// batch, or for the take that made room. The trainer waits for the batch, or for a compute to end.
// The path is the chain of the events that came last, from the end of the window back. It is
// carried forward with the steps, so no events are stored.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <vector>

#include "base/fifo.h"
#include "loaderscope/run_record.h"
#include "record/spans_in_flight.h"

namespace loaderscope {

// The end of a path: an instant, and the path that led to it.
struct PathTail {
  Nanos end = kNever;  // the instant; kNever if no event has been seen yet
  CriticalPath path;   // time since the first ask, by cause

  bool known() const { return end != kNever; }
  bool reaches(Nanos at) const { return known() && end <= at; }
  void extend(Nanos until, Cause cause, Nanos queued = 0);  // queued: run-queue delay within it
  void compute(Nanos until);
};

class CriticalPathTracker {
 public:
  void first_ask(Nanos at);

  // Calls for one step, in this order: its begin, the spans of every worker that made part of its
  // batch, its way to the device, and its compute.
  void begin_step(const StepEvents& events);
  void made(std::int32_t worker, std::span<const Span> spans);
  // `maker` is the main cause of the worker's CPU time. It also covers requests for the batch's
  // memory.
  void get_ready(const StepEvents& events, Cause maker);
  const PathTail& ready() const { return ready_; }
  // `slowest`: path of the rank that this one waited for; null if none.
  void compute(const StepEvents& events, const PathTail* slowest);

  void open_window() { before_window_ = last_compute_.path; }
  CriticalPath window_path() const;

 private:
  struct Worker {
    PathTail chain, feeder;
    std::int32_t epoch = -1;
  };

  Worker& worker(std::int32_t number) { return worker_entry(workers_, number); }
  void begin_batch(Worker& worker, Nanos begin);
  PathTail hand_over(const StepEvents& events, Cause maker);
  PathTail make_on_device(const StepEvents& events, const PathTail& handed);
  void make_for_trainer(const StepEvents& events);
  void copy(const StepEvents& events, const PathTail& taken);
  void launch(const StepEvents& events, const PathTail& taken);
  const PathTail* compute_before(Nanos at) const;
  PathTail latest(std::initializer_list<const PathTail*> candidates, Nanos at) const;

  std::vector<Worker> workers_;  // one per worker seen so far
  PathTail pin_thread_, trainer_, copied_, asked_, ready_, last_compute_;
  PathTail device_thread_, made_;  // made_: end of production of the current step
  std::array<PathTail, kLanes> lanes_;
  Nanos deliverable_ = 0;      // arrival of the batch before in the trainer's queue
  Fifo<PathTail> dispatches_;  // takes, and begins of epochs
  Fifo<PathTail> computes_;    // computes that a later step may have waited for
  Nanos dispatched_ = 0;       // dispatch of the current step
  std::int32_t epoch_ = 0;
  CriticalPath before_window_;
};

}  // namespace loaderscope
