// What starting workers costs that are no forks: what they are handed, and what they import.
#pragma once

#include <map>
#include <vector>

#include "guest/host/message_contents.h"
#include "loaderscope/run_record.h"

namespace loaderscope::guest {

class WorkerStarts {
 public:
  void handed(const ProcessId& id, const HandedMessage& told);  // of a process the last counts

  std::vector<Metric> metrics() const;  // of a worker, on average
  std::vector<Detail> details() const;  // of its bytes: the parts that most of it is in

 private:
  std::map<ProcessId, HandedMessage> told_;
};

}  // namespace loaderscope::guest
