// What the processes of a job open, list and ask servers for: before their first batch, and for
// each batch from then on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "guest/host/member.h"
#include "guest/host/message_contents.h"
#include "loaderscope/run_record.h"

namespace loaderscope::guest {

class Traffic {
 public:
  void hear(const Hello& who, const TrafficMessage& told);  // of a process the last counts

  // `samples`: of a batch, on average.
  std::vector<Metric> metrics(double samples) const;
  // What each worker has opened, listed or asked for before its first batch.
  std::vector<Detail> details() const;

 private:
  struct Process {
    bool is_worker = false;
    TrafficMessage told;
  };
  std::vector<std::string> same_names() const;

  std::map<ProcessId, Process> processes_;
};

}  // namespace loaderscope::guest
