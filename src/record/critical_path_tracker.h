// What the steps of a rank hung on. Each event is begun by the end of another: a worker by its
// batch before or by the take that made room, the trainer by the batch or by a compute that ended.
// The chain of those that came last, from the end of the window back, is its critical path. It is
// carried forward with the steps, so that nothing has to be kept.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "base/fifo.h"
#include "loaderscope/run_record.h"
#include "record/by_worker.h"

namespace loaderscope {

// How an instant came to be as late as it is.
struct PathTail {
  Nanos end = kNever;  // the instant; kNever: nothing has been there yet
  CriticalPath path;   // what passed until then, since the first ask

  bool known() const { return end != kNever; }
  bool reaches(Nanos at) const { return known() && end <= at; }
  void extend(Nanos until, Cause cause, Nanos queued = 0);  // queued: of it for a core
  void compute(Nanos until);
};

class CriticalPathTracker {
 public:
  void first_ask(Nanos at);

  // A step, in this order: begun, the spans of every worker that made something of its batch, its
  // way to the device, and its compute.
  void begin_step(const StepEvents& events);
  void made(std::int32_t worker, std::span<const Span> spans);
  // `maker`: what its worker does chiefly, while it is asked for the batch's memory too.
  void get_ready(const StepEvents& events, Cause maker);
  const PathTail& ready() const { return ready_; }
  // `slowest`: of the rank that this one waited for, where it did.
  void compute(const StepEvents& events, const PathTail* slowest);

  void open_window() { before_window_ = last_compute_.path; }
  CriticalPath of_window() const;

 private:
  struct Worker {
    PathTail chain, feeder;
    std::int32_t epoch = -1;
  };

  Worker& worker(std::int32_t number) { return of_worker(workers_, number); }
  void begin_batch(Worker& worker, Nanos begin);
  PathTail hand_over(const StepEvents& events, Cause maker);
  void copy(const StepEvents& events, const PathTail& taken);
  void launch(const StepEvents& events, const PathTail& taken);
  const PathTail* compute_before(Nanos at) const;
  PathTail latest(std::initializer_list<const PathTail*> candidates, Nanos at) const;

  std::vector<Worker> workers_;  // as many as have been seen
  PathTail pin_thread_, trainer_, copied_, asked_, ready_, last_compute_;
  Fifo<PathTail> dispatches_;  // takes, and the beginnings of epochs
  Fifo<PathTail> computes_;    // those that a coming step may have waited for
  Nanos dispatched_ = 0;       // of the step begun
  std::int32_t epoch_ = 0;
  CriticalPath before_window_;
};

}  // namespace loaderscope
