// What the processes of a measured job use in its window: CPU time, memory, shared memory.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <vector>

#include "engine/guest/job_process.h"
#include "engine/guest/look_pace.h"
#include "measure/process_counters.h"

namespace loaderscope::guest {

class Consumption {
 public:
  Consumption();

  // With the processes that have not ended: once, then now and then until the window has ended. A
  // job that ends before it does is known as far as it was looked at.
  void window_begins(const std::vector<JobProcess>& processes);
  void look(const std::vector<JobProcess>& processes, bool window_has_ended);
  bool begun() const { return begin_.at != 0; }
  bool ended() const { return ended_; }
  // Once the processes have ended. Nothing without a window.
  std::vector<Metric> metrics() const;

 private:
  void note_ended(const std::vector<JobProcess>& processes);

  Bytes shared_before_;  // in /dev/shm, of all programs
  Bytes shared_ = 0;
  std::set<std::string> segments_;  // files of /dev/shm that the job had mapped
  ProcessCounters begin_, end_;
  LookPace pace_;
  bool ended_ = false;
  std::set<pid_t> there_;    // at the last look
  bool some_ended_ = false;  // in the window: how often they were switched is not known
};

}  // namespace loaderscope::guest
