// Limits how often a running engine reports its progress.
#pragma once

#include "base/thread_meter.h"
#include "loaderscope/engine.h"

namespace loaderscope {

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
