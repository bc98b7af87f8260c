// What of their data set forked workers have copied of the trainer's memory.
#pragma once

#include <map>
#include <vector>

#include "guest/host/message_contents.h"
#include "loaderscope/run_record.h"

namespace loaderscope::guest {

class CopiedParts {
 public:
  void hear(const ProcessId& worker,
            const std::vector<CopiedPart>& told);  // of a worker the last counts

  std::vector<Metric> metrics() const;  // of a worker, on average
  std::vector<Detail> details() const;  // of its bytes: the parts that most of it is in

 private:
  std::map<std::string, double> copied() const;  // bytes, by name

  std::map<ProcessId, std::vector<CopiedPart>> told_;
};

}  // namespace loaderscope::guest
