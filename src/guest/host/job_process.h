// A process of a measured job that is observed from outside, how often that is done, and a process
// that is not measured.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <string>

#include "base/thread_meter.h"

namespace loaderscope::guest {

struct JobProcess {
  pid_t pid = 0;
  bool is_worker = false;
};

// A process that could not report what it does, and why.
struct Unmeasured {
  pid_t process = 0;
  bool is_worker = false;
  std::string reason;
};

// Looking costs the job time.
class LookPace {
 public:
  bool is_due(Nanos now) const { return now - last_ >= std::max(kEvery, kParts * cost_); }
  // A look that began at `begin` is over.
  void looked(Nanos begin) {
    last_ = begin;
    cost_ = monotonic_now() - begin;
  }
  bool has_looked() const { return last_ != 0; }

 private:
  static constexpr Nanos kEvery = kSecond / 2;
  static constexpr Nanos kParts = 50;  // of the time: one goes into looking

  Nanos last_ = 0, cost_ = 0;
};

}  // namespace loaderscope::guest
