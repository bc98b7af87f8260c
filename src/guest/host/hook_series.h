// When a job is timed by turns, so that it can be said what the timing costs: behind a window that
// has an end, else now and then while the job runs.
#pragma once

#include <optional>
#include <string>

#include "guest/host/hook_cost.h"
#include "loaderscope/run_record.h"

namespace loaderscope::guest {

class HookSeries {
 public:
  // `why_not`: why it is not to be measured; "" where it is.
  explicit HookSeries(std::string why_not) : why_not_(std::move(why_not)) {}

  struct Seen {
    Nanos window = 0;        // that is over
    std::int64_t steps = 0;  // in it
    std::int64_t taken = 0;  // in all, but for the first of each epoch
    Nanos clock = 0;         // when the last was, on a clock that stands still between epochs
    std::int64_t ahead = 0;  // batches that are made before they are taken
  };
  // Both to be called often. True: there is nothing more to wait for.
  bool behind_window(const Seen& seen);
  void meanwhile(const Seen& seen);
  bool timing() const { return !series_ || series_->timing(); }

  void say(RunRecord& record) const;

 private:
  bool begin(const Seen& seen, Nanos length);

  std::string why_not_;
  std::optional<HookCost> series_, done_;
  Nanos next_at_ = kFirstAt;  // of the window
  bool within_ = false;       // the window

  static constexpr Nanos kFirstAt = 20 * kSecond;
};

}  // namespace loaderscope::guest
