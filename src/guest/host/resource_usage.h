// Resources that the processes of a measured job use in its window: CPU time, memory, shared
// memory.
#pragma once

#include <sys/types.h>

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "guest/host/job_process.h"
#include "loaderscope/run_record.h"
#include "machine/machine_load.h"
#include "machine/process_counters.h"

namespace loaderscope::guest {

// Memory that the processes of a measured job hold. To count the pages that several of them share,
// the kernel walks over all pages of a process: some 80 ns each, and meanwhile the process may wait
// for its own memory. JobMemory therefore looks seldom, and once for all who ask.
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

class ResourceUsage {
 public:
  ResourceUsage();

  // Pass the processes that have not ended. Call window_begins() once, then look() from time to
  // time until the window has ended.
  void window_begins(const std::vector<JobProcess>& processes);  // again if the window restarts
  // `window_end` is the end of the last step, as far as it is known.
  void look(const std::vector<JobProcess>& processes, const JobMemory& memory,
            bool window_has_ended, Nanos window_end);
  // Call after all processes have ended and were waited for. Their usage is final then.
  void job_ended();
  bool begun() const { return begin_.at != 0; }
  bool ended() const { return ended_; }
  // Returns the metrics up to `window_end`, or nothing without a reading near it.
  std::vector<Metric> metrics(Nanos window_end);
  const std::vector<Detail>& other_programs() const { return other_programs_; }

 private:
  ProcessCounters read(const std::vector<JobProcess>& processes) const;
  void forget_before(Nanos window_end);
  void note_ended(const std::vector<JobProcess>& processes);
  void note_other_programs();

  Bytes shared_before_;  // in /dev/shm, of all programs
  Bytes shared_ = 0;
  std::set<std::string> segments_;        // files of /dev/shm that the job had mapped
  EndedProcesses ended_before_;           // children of this program that are no part of the job
  ProcessCounters begin_, before_;        // the window; the last reading before it ended
  std::deque<ProcessCounters> readings_;  // readings since then
  std::optional<OtherPrograms> programs_before_;  // the window
  std::vector<Detail> other_programs_;            // programs that ran in the window
  SamplingPace pace_{kSecond / 2, 200};
  bool ended_ = false;
  std::set<pid_t> there_;  // processes at the last look
  // a process ended in the window, so its number of context switches is unknown
  bool some_ended_ = false;
};

}  // namespace loaderscope::guest
