// Decides which steps of a rank are warm-up, which are measured, and which is the last.
#pragma once

#include <cstdint>
#include <limits>

#include "base/thread_meter.h"
#include "loaderscope/engine.h"
#include "loaderscope/events.h"
#include "loaderscope/run_config.h"

namespace loaderscope {

class MeasurementWindow {
 public:
  // `burst`: a window by duration ends on a multiple of this number of steps, because workers that
  // make whole batches deliver in bursts of their number.
  MeasurementWindow(const RunConfig& config, std::int64_t burst);

  void first_ask(Nanos at) { previous_end_ = first_ask_ = at; }
  // Called once for each step in order: is it warm-up? Not for steps after the last.
  bool is_warmup(std::int64_t step, Nanos compute_end);
  // Is it known beforehand that `step`, the next one, is measured? Not with a warm-up by time.
  bool measures(std::int64_t step) const {
    return measured_ > 0 || (config_.measure.warmup.value.duration == 0 &&
                             step >= config_.measure.warmup.value.steps);
  }
  bool ended() const { return ended_; }
  std::int64_t measured() const { return measured_; }
  std::int64_t first_measured() const {
    return first_measured_;
  }                         // the step; the largest number before it is known
  double fraction() const;  // share of the window that is over

 private:
  const RunConfig& config_;
  std::int64_t burst_;
  Nanos first_ask_ = 0;
  Nanos previous_end_ = 0;
  Nanos window_begin_ = 0;
  std::int64_t measured_ = 0;
  std::int64_t first_measured_ = std::numeric_limits<std::int64_t>::max();
  bool ended_ = false;
};

// Limits how often a running engine reports its progress.
class ProgressThrottle {
 public:
  // `context` outlives this. The first beat is due at once, or a while after `begin`.
  explicit ProgressThrottle(const RunContext& context) : context_(context) {}
  void begin() { last_ = monotonic_now(); }

  // Call this often. `progress` returns a Progress, and is called only when a report is due.
  template <typename Source>
  void look(const Source& progress) {
    const Nanos now = monotonic_now();
    if (!context_.on_progress || now - last_ < kEvery) return;
    last_ = now;
    context_.on_progress(progress());
  }

 private:
  static constexpr Nanos kEvery = 200 * kMillisecond;

  const RunContext& context_;
  Nanos last_ = 0;
};

}  // namespace loaderscope
