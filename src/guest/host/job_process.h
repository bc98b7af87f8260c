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

// Returns the folder of a process in /proc.
inline std::string proc(pid_t process) { return "/proc/" + std::to_string(process); }

// A process that could not report what it does, and why.
struct UnmeasuredProcess {
  pid_t process = 0;
  bool is_worker = false;
  std::string reason;
};

// Looking costs the job time.
class SamplingPace {
 public:
  // Looks at most once per `every`. One of `parts` parts of the time goes into looking.
  SamplingPace(Nanos every, Nanos parts) : every_(every), parts_(parts) {}
  bool is_due(Nanos now) const {
    return !has_looked() || now - last_ >= std::max(every_, parts_ * cost_);
  }
  // A look that began at `begin` is over.
  void looked(Nanos begin) {
    last_ = begin;
    cost_ = monotonic_now() - begin;
  }
  bool has_looked() const { return last_ != 0; }

 private:
  Nanos every_, parts_;
  Nanos last_ = 0, cost_ = 0;
};

}  // namespace loaderscope::guest
