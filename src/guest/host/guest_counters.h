// The counters of all processes of a job, in bounded memory.
#pragma once

#include <map>
#include <vector>

#include "guest/host/message_contents.h"
#include "loaderscope/run_record.h"
#include "machine/proc_file.h"

namespace loaderscope::guest {

// The last value of each counter of each process. A job of hours can have thousands of workers, of
// which most have ended: these are kept as one sum.
class LastByProcess {
 public:
  void put(const ProcessId& process, CounterValues values);  // keeps its other counters
  CounterValues sum() const;

 private:
  void fold_ended();

  std::map<ProcessId, CounterValues> last_;
  CounterValues ended_sum_;
};

// The size of a job, by which some sums are divided.
struct CounterScale {
  double batches = 0;            // batches that all trainers took
  double samples_per_batch = 0;  // mean samples per batch
};

class GuestCounters {
 public:
  void put(const ProcessId& process, bool is_worker, CounterValues values);
  // Names of the user's code, by stage, of the first loader that has some.
  void name_code(const NamesByStage& names);

  std::vector<Metric> metrics(const CounterScale& scale) const;
  std::vector<Detail> details() const;

 private:
  LastByProcess trainers_, workers_;
  NamesByStage code_;
};

}  // namespace loaderscope::guest
