// What the processes of a measured job use: CPU time, memory, shared memory.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "measure/process_counters.h"

namespace loaderscope::guest {

struct JobProcess {
  pid_t pid = 0;
  bool is_worker = false;
};

class Consumption {
 public:
  Consumption();

  // To be called often, with the processes that have not ended.
  void look(const std::vector<JobProcess>& processes);
  void window_begins(const std::vector<JobProcess>& processes);
  void window_ends(const std::vector<JobProcess>& processes);
  bool begun() const { return begin_.at != 0; }
  bool ended() const { return end_.at != 0; }
  // Once the processes have ended. Nothing without a window.
  std::vector<Metric> metrics() const;

 private:
  Bytes shared_before_;  // in /dev/shm, of all programs
  Bytes shared_ = 0;
  std::set<std::string> segments_;  // files of /dev/shm that the job had mapped
  double worker_bytes_ = 0;         // of one worker, beside what it shares
  ProcessCounters begin_, end_;
  MemoryWatch memory_;
};

}  // namespace loaderscope::guest
