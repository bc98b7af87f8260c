// Activity of a GPU while a program trains, as the GPU reported it: kernels and copies to it, on
// the host's clock. It has no side effects. Records are added as they arrive, and steps are taken
// in order.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "base/time_range.h"
#include "loaderscope/events.h"

namespace loaderscope::guest {

// Stages of the host's calls that start work of the GPU, by the number of the call. Keeps the last
// ones.
class CallStages {
 public:
  void add(std::uint32_t call, Stage stage);
  // Returns Stage::compute for all other calls.
  Stage find(std::uint32_t call) const;

 private:
  std::unordered_map<std::uint32_t, Stage> stages_;
  std::deque<std::uint32_t> calls_;  // calls in the order of arrival
};

class GpuTimeline {
 public:
  // Adds a record. Records arrive roughly in the order of time. Parts before the last `take` are
  // late, and are left out. `call` is the number of the host's call that started it; 0: unknown.
  void kernel(Nanos begin, Nanos end, std::uint32_t call = 0);
  void copy(Nanos begin, Nanos end, Bytes bytes, std::uint32_t call = 0);
  // The kernels and copies of `call` make batches. Comes before or after them.
  void add_stage(std::uint32_t call, Stage stage) { stages_.add(call, stage); }
  // The trainer waited in a call that decodes. The engines of a GPU decode without kernels.
  void decode_call(Nanos begin, Nanos end);

  // Work of one step, in its order. `compute` is the time in which a kernel of the training ran,
  // moved together at the end of the step. `augment`, `decode` and `copy` lie right before it. Each
  // is the time with such work and without any of the parts after it. The rest of the step is gaps.
  struct Work {
    Interval copy, decode, augment;
    Interval compute;
    Nanos hidden = 0;  // time with work of the loader and of the training
  };
  // Returns the work within [begin, end), or nothing if no kernel ran. Call in the order of the
  // steps. What the GPU makes after the last kernel of the training counts for the next step.
  std::optional<Work> take(Nanos begin, Nanos end);

  Nanos known_until() const { return known_until_; }  // end of the last known kernel
  std::int64_t late() const { return late_; }
  Nanos copied() const { return copied_; }  // sum of all copies
  Bytes copied_bytes() const { return copied_bytes_; }

 private:
  struct Activity {
    TimeRange range;
    std::uint32_t call = 0;
  };
  using Activities = std::deque<Activity>;
  using TimeRanges = std::deque<TimeRange>;
  // Work of the loader on the GPU.
  struct Production {
    TimeRanges decode, augment;

    bool empty() const { return decode.empty() && augment.empty(); }
    Nanos end() const;
    // Removes and returns the part after `at`.
    Production cut_after(Nanos at);
  };

  void add(Activities& all, Nanos begin, Nanos end, std::uint32_t call);
  // Removes the part of `from` before `end`, and returns what of it is after `begin`. The part
  // after `end` remains.
  static Activities cut(Activities& from, Nanos begin, Nanos end);
  // Adds the work of the loader to `made`, and returns the rest.
  TimeRanges split(const Activities& all, Production& made) const;

  Activities kernels_, copies_, decode_calls_;  // ordered by begin
  CallStages stages_;
  Production made_ahead_;  // work of the loader since the end of the last step
  Nanos taken_until_ = 0, known_until_ = 0, copied_ = 0;
  Bytes copied_bytes_ = 0;
  std::int64_t late_ = 0;
};

}  // namespace loaderscope::guest
