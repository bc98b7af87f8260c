// Memory that the processes of a measured job hold. To count the pages that several of them share,
// the kernel walks over all pages of a process: some 80 ns each, and meanwhile the process may wait
// for its own memory. JobMemory therefore looks seldom, and once for all who ask.
#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

#include "guest/host/job_process.h"
#include "loaderscope/run_record.h"
#include "machine/process_counters.h"

namespace loaderscope::guest {

class JobMemory {
 public:
  JobMemory() = default;
  explicit JobMemory(SamplingPace pace) : pace_(pace) {}

  // `is_last`: the window has ended, and what they hold now counts in any case.
  void look(const std::vector<JobProcess>& processes, bool is_last);

  // The sum over all processes, at the last look that found one; 0: none did. A page that several
  // processes share counts in parts.
  Bytes resident() const { return resident_; }
  Bytes shared() const { return shared_; }

  // `batches` were taken in a window of `window_s`.
  std::vector<Metric> metrics(double batches, double window_s) const;

 private:
  SamplingPace pace_{kSecond / 2, 200};
  Bytes resident_ = 0, shared_ = 0;
  double private_of_workers_ = 0;
  std::set<pid_t> trainers_, workers_;  // processes at the last look
  bool restarted_ = false;              // new workers have replaced all earlier ones
  MemoryWatch growth_, growth_of_trainers_;
};

}  // namespace loaderscope::guest
