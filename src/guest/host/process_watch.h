// Resources of the processes of a job during measuring, read from /proc: threads besides those that
// make batches, the interpreter lock, open files, and /dev/shm.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "guest/host/job_process.h"
#include "guest/host/lock_watch.h"
#include "guest/host/message_contents.h"
#include "loaderscope/run_record.h"
#include "machine/proc_file.h"
#include "machine/process_counters.h"

namespace loaderscope::guest {

class ProcessWatch {
 public:
  void receive_report(const JobProcess& process, const ThreadsMessage& content);
  // Samples the locks of a few processes often, in rotation, and everything else from time to time.
  void look(const std::vector<JobProcess>& processes);

  std::vector<Metric> metrics() const;
  std::vector<std::string> notes() const;
  bool waits_for_interpreter(pid_t process) const { return locks_.waits_now(process); }

 private:
  struct ThreadTime {
    double first_s = 0, last_s = 0;
    bool is_main = false;
  };
  struct WorkersTime {
    double all_s = 0, beside_s = 0;  // `beside_s`: time of threads that make no batch
    void add(const ThreadTime& time);
  };

  void look_at_locks(const std::vector<JobProcess>& processes);
  bool look_at_threads(pid_t worker);  // false: the worker has ended
  void fold_threads_of_ended();
  void look_at_files(pid_t process);
  void look_at_nodes(const std::vector<JobProcess>& processes);
  void look_at_shared_memory();
  void add_threads(std::vector<Metric>& metrics) const;

  LockWatch locks_;
  std::size_t turn_ = 0;
  SamplingPace locks_pace_{20 * kMillisecond, 200};
  SamplingPace pace_{kSecond / 2, 200};
  std::int64_t looks_ = 0;                                   // looks within the window
  std::int64_t worker_looks_ = 0;                            // looks that saw a worker run
  std::map<std::pair<pid_t, ProcessId>, ThreadTime> times_;  // times by worker and thread
  WorkersTime ended_workers_;
  std::int64_t most_threads_ = 0;              // threads of one worker
  std::map<std::string, std::int64_t> pools_;  // configured threads of each library
  // files of the process that is nearest to its limit
  std::int64_t open_files_ = 0, most_files_ = 0;
  std::int64_t rank_nodes_ = 0;               // NUMA nodes of ranks at the last look, the maximum
  double shared_peak_ = 0, shared_most_ = 0;  // bytes of /dev/shm
};

}  // namespace loaderscope::guest
