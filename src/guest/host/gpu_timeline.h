// What a GPU did while a program trained, as it said itself: its kernels and the copies to it, on
// the host's clock. Pure; fed as the records come, asked step by step.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/time_range.h"
#include "loaderscope/events.h"

namespace loaderscope::guest {

class GpuTimeline {
 public:
  // In about the order of time. What lies before the last `take` comes too late, and is left out.
  void kernel(Nanos begin, Nanos end);
  void copy(Nanos begin, Nanos end, Bytes bytes);

  // Of one step: the time in which a kernel ran, put together at the end of the last one; right
  // before it, the time in which there was a copy and no kernel. What is left of the step before
  // them is the gaps.
  struct Work {
    Interval copy;
    Interval compute;
  };
  // What it did in [begin, end), cut to it. Nothing where no kernel ran. Steps are asked for in
  // order.
  std::optional<Work> take(Nanos begin, Nanos end);

  Nanos known_until() const { return known_until_; }  // the end of the last kernel that is known
  std::int64_t late() const { return late_; }
  Nanos copied() const { return copied_; }  // all copies together
  Bytes copied_bytes() const { return copied_bytes_; }

 private:
  using TimeRanges = std::deque<TimeRange>;

  void add(TimeRanges& ranges, Nanos begin, Nanos end);
  // Takes what lies before `end` out of `from`; the rest of what reaches beyond stays.
  static TimeRanges cut(TimeRanges& from, Nanos begin, Nanos end);
  static Nanos covered(const TimeRanges& by_begin);

  TimeRanges kernels_, copies_;  // by their begin
  Nanos taken_until_ = 0, known_until_ = 0, copied_ = 0;
  Bytes copied_bytes_ = 0;
  std::int64_t late_ = 0;
};

}  // namespace loaderscope::guest
