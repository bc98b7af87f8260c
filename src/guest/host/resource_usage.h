// What the processes of a measured job use in its window: CPU time, memory, shared memory.
#pragma once

#include <sys/types.h>

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "guest/host/job_memory.h"
#include "guest/host/job_process.h"
#include "machine/other_programs.h"
#include "machine/process_counters.h"

namespace loaderscope::guest {

class ResourceUsage {
 public:
  ResourceUsage();

  // With the processes that have not ended: once, then now and then until the window has ended.
  void window_begins(const std::vector<JobProcess>& processes);  // or once more
  // `window_end`: as far as it is known, the end of the last step.
  void look(const std::vector<JobProcess>& processes, const JobMemory& memory,
            bool window_has_ended, Nanos window_end);
  // All processes have ended and were waited for: what they used is known to the last.
  void job_ended();
  bool begun() const { return begin_.at != 0; }
  bool ended() const { return ended_; }
  // Up to `window_end`. Nothing where that was not looked at.
  std::vector<Metric> metrics(Nanos window_end);
  const std::vector<Detail>& other_programs() const { return other_programs_; }

 private:
  ProcessCounters read(const std::vector<JobProcess>& processes) const;
  void forget_before(Nanos window_end);
  void note_ended(const std::vector<JobProcess>& processes);
  void note_other_programs();

  Bytes shared_before_;  // in /dev/shm, of all programs
  Bytes shared_ = 0;
  std::set<std::string> segments_;      // files of /dev/shm that the job had mapped
  EndedProcesses ended_before_;         // children of this program that are no part of the job
  ProcessCounters begin_, before_;      // the window; the last reading before it ended
  std::deque<ProcessCounters> behind_;  // readings since then
  std::optional<OtherPrograms> programs_before_;  // the window
  std::vector<Detail> other_programs_;            // in it
  SamplingPace pace_{kSecond / 2, 200};
  bool ended_ = false;
  std::set<pid_t> there_;    // at the last look
  bool some_ended_ = false;  // in the window: how often they were switched is not known
};

}  // namespace loaderscope::guest
