// Activity of a GPU while a program trains, as the GPU reported it: kernels and copies to it, on
// the host's clock. It has no side effects. Records are added as they arrive, and steps are taken
// in order.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/time_range.h"
#include "loaderscope/events.h"

namespace loaderscope::guest {

class GpuTimeline {
 public:
  // Adds a record. Records arrive roughly in the order of time. Parts before the last `take` are
  // late, and are left out.
  void kernel(Nanos begin, Nanos end);
  void copy(Nanos begin, Nanos end, Bytes bytes);

  // Work of one step. `compute` is the time in which a kernel ran, moved together at the end of the
  // step. `copy` lies right before it, and is the time with a copy and without a kernel. The rest
  // of the step is gaps.
  struct Work {
    Interval copy;
    Interval compute;
  };
  // Returns the work within [begin, end), or nothing if no kernel ran. Call in the order of the
  // steps.
  std::optional<Work> take(Nanos begin, Nanos end);

  Nanos known_until() const { return known_until_; }  // end of the last known kernel
  std::int64_t late() const { return late_; }
  Nanos copied() const { return copied_; }  // sum of all copies
  Bytes copied_bytes() const { return copied_bytes_; }

 private:
  using TimeRanges = std::deque<TimeRange>;

  void add(TimeRanges& ranges, Nanos begin, Nanos end);
  // Removes and returns the part of `from` before `end`. The part after `end` remains.
  static TimeRanges cut(TimeRanges& from, Nanos begin, Nanos end);
  static Nanos covered(const TimeRanges& sorted_ranges);

  TimeRanges kernels_, copies_;  // ordered by begin
  Nanos taken_until_ = 0, known_until_ = 0, copied_ = 0;
  Bytes copied_bytes_ = 0;
  std::int64_t late_ = 0;
};

}  // namespace loaderscope::guest
