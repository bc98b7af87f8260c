// The last minute of a watched job: what a monitor shows. The answer of `watch` covers the whole
// watched time.
#pragma once

#include <deque>

#include "watch/watch.h"

namespace loaderscope::watch {

// Returns `now` with the shares of the time since `before`, and the limit that they show. Counts
// and the rest are as in `now`.
Watch watch_since(const Watch& before, const Watch& now);

class RecentWatch {
 public:
  static constexpr double kSeconds = 60, kApart = 5;

  // Returns the last minute, or the whole time before a minute has passed. Call it with growing
  // times.
  Watch add(const Watch& now);

 private:
  std::deque<Watch> earlier_;  // the first is the begin of the last minute
};

}  // namespace loaderscope::watch
