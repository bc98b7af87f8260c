// The copy queue and the compute queue of one device. From the times of submission it computes when
// each copy and each compute begins and ends. It has no clock: the simulated device uses it with
// real times, the model with virtual ones.
#pragma once

#include <cstdint>
#include <optional>

#include "base/fifo.h"
#include "loaderscope/events.h"

namespace loaderscope {

class DeviceTimeline {
 public:
  // Without a copy stream of its own, a copy begins once the compute of the step before has ended.
  explicit DeviceTimeline(bool has_copy_stream) : has_copy_stream_(has_copy_stream) {}

  // Steps come in order: first the copy, then the compute. Duration 0: nothing is copied.
  void submit_copy(Nanos now, Nanos duration);
  void add_copied(const Interval& copy);  // replaces submit_copy: the trainer's thread has copied
  void submit_compute(Nanos now);         // applies to the oldest step without a compute

  // Time at which the oldest step could begin to compute. Empty until its compute is submitted, its
  // copy is placed and the previous compute has ended.
  std::optional<Nanos> ready() const;
  // The oldest step, which is ready, begins to compute. Returns its copy.
  Interval begin_compute();
  // The compute that has begun ends then.
  void end_compute(Nanos end);

  // Time at which a copy by the trainer's thread can begin. kNever while unknown.
  Nanos copy_queue_free() const;
  // End of the copy that was submitted last. kNever while unknown.
  Nanos copy_end() const { return last_copy_end_; }
  // Steps whose compute has not begun.
  std::size_t waiting() const { return steps_.size(); }
  // The copy of such a step, the oldest is 0. Null while its begin is unknown.
  const Interval* find_copy(std::size_t index) const;
  Nanos compute_tail() const { return compute_tail_; }

 private:
  struct Step {
    Interval copy;  // did not run if nothing is copied
    Nanos copy_submitted = 0, copy_duration = 0, compute_submitted = 0;
    bool copy_placed = false, has_compute = false;
  };
  void place_copy(Step& step, Nanos earliest);

  bool has_copy_stream_;
  Fifo<Step> steps_{2};
  bool is_computing_ = false;
  Nanos compute_tail_ = 0, copy_tail_ = 0, last_copy_end_ = 0;
};

}  // namespace loaderscope
